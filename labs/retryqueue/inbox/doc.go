// Package inbox is the receiver's half of the retry queue: the same id may come
// several times, and the effect happens once. The mark that an id was seen and
// the effect are written in one transaction of the receiver's own database, so
// neither is ever there without the other.
//
//	box, err := inbox.New(ctx, inbox.Config{DB: db, Dialect: inbox.SQLite, Keep: 48 * time.Hour, Horizon: 24 * time.Hour})
//	...
//	duplicate, err := box.Do(ctx, now, id, func(ctx context.Context, tx *sql.Tx) error {
//		_, err := tx.ExecContext(ctx, "INSERT INTO payments ...")
//		return err
//	})
//
// A first try that failed leaves no mark, so that its repeat is not thrown away.
// A duplicate is no error: the answer to it is that of a success.
//
// An id must be remembered for at least as long as it may come again: from the
// effect to the job's deadline. So a Keep below the longest time that any job has
// is refused. A job that a person redrives after that is new to the inbox.
//
// It leaves out effects outside of the database (a mail, another call): what is
// not in the transaction can happen twice or not at all.
package inbox
