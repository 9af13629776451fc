module undertone/yamux

go 1.24

require github.com/libp2p/go-yamux/v5 v5.1.0

require github.com/libp2p/go-buffer-pool v0.0.2 // indirect
