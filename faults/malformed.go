package faults

func malformedFault() Fault {
	return Fault{
		Name: "malformed", Effect: "no", Curl: "1", Class: "malformed",
		Summary: "sends bytes that are not HTTP, then closes",
		Params: []Param{{
			Name: "what", Kind: KindWord, Default: "garbage", Words: []string{"garbage", "header", "chunk"},
			Help: "what is broken: everything, a header line, or a chunk's size",
		}},
		build: func(a args) (behavior, error) {
			bytes := map[string]string{
				"garbage": "\x00\x01\x02 this is not HTTP \xff\xfe\r\n\r\n",
				"header":  "HTTP/1.1 200 OK\r\nthis line has no colon\r\nContent-Length: 2\r\n\r\nok",
				"chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nthis chunk has no size\r\n0\r\n\r\n",
			}[a.word("what")]
			return behavior{request: func(x *Exchange) {
				x.write([]byte(bytes))
				x.endFIN(malformed)
			}}, nil
		},
	}
}
