//go:build !unix

package budgetcaller

// alive cannot look without waiting here: a connection that died while idle
// shows as closed or reset.
func (c *conn) alive() bool { return true }

// dead cannot tell here: a RST that a writer alone was told of may pass for an
// orderly end.
func (c *conn) dead() bool { return false }
