// Command yamux is one end of a connection with go-yamux alone, for mux-windows:
//
//	yamux listen
//	yamux dial PORT MESSAGES BYTES PAUSE_MS
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

const helloBytes = 16

// config is what go-libp2p sets, except for its limits on the number of streams, which matter to no window.
func config() *yamux.Config {
	config := *yamux.DefaultConfig()
	config.LogOutput = io.Discard
	config.ReadBufSize = 0
	return &config
}

func listen() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	session, err := yamux.Server(conn, config(), nil)
	if err != nil {
		return err
	}
	stream, err := session.AcceptStream()
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, stream, helloBytes); err != nil {
		return err
	}
	if _, err := stream.Write(make([]byte, helloBytes)); err != nil {
		return err
	}
	// As pubsub reads a message: into room for all of it, a frame at a time.
	room := make([]byte, 4<<20)
	for err == nil {
		_, err = stream.Read(room)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func dial(port, messages, bytes, pauseMS int) error {
	conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	session, err := yamux.Client(conn, config(), nil)
	if err != nil {
		return err
	}
	stream, err := session.Open(context.Background())
	if err != nil {
		return err
	}
	if _, err := stream.Write(make([]byte, helloBytes)); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, stream, helloBytes); err != nil {
		return err
	}
	pause := time.Duration(pauseMS) * time.Millisecond
	for range messages {
		time.Sleep(pause)
		if _, err := stream.Write(make([]byte, bytes)); err != nil {
			return err
		}
	}
	time.Sleep(pause)
	return nil
}

func numbers(texts []string) (values [4]int, err error) {
	for i := range values {
		if values[i], err = strconv.Atoi(texts[i]); err != nil {
			return
		}
	}
	return
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "listen" {
		return listen()
	}
	if len(args) == 5 && args[0] == "dial" {
		values, err := numbers(args[1:])
		if err != nil {
			return err
		}
		return dial(values[0], values[1], values[2], values[3])
	}
	return fmt.Errorf("yamux listen, or yamux dial PORT MESSAGES BYTES PAUSE_MS")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
