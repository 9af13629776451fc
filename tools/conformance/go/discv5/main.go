// Command discv5 is a node of go-ethereum's discv5 with Waku's protocol id, and signs lists of nodes for DNS. It speaks the
// lines that tools/conformance/js/discv5/README.md lists.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/p2p/discover"
	"github.com/ethereum/go-ethereum/p2p/dnsdisc"
	"github.com/ethereum/go-ethereum/p2p/enode"
	"github.com/ethereum/go-ethereum/p2p/enr"
)

const lineBytesMax = 1 << 20

type fields map[string]any

// tell writes one line; the mutex of the logger keeps lines whole.
var out = log.New(os.Stdout, "", 0)

func tell(line fields) {
	text, err := json.Marshal(line)
	if err != nil {
		log.Fatal(err)
	}
	out.Println(string(text))
}

// trap listens where the record says that the node's libp2p is: who connects is told, and sent away.
func trap(ip string) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return 0, err
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			tell(fields{"event": "dialled", "port": connection.RemoteAddr().(*net.TCPAddr).Port})
			connection.Close()
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// describe tells what the library has read of a record.
func describe(node *enode.Node) fields {
	value := func(key string) any {
		var bytes []byte
		if node.Load(enr.WithEntry(key, &bytes)) != nil {
			return nil
		}
		return hex.EncodeToString(bytes)
	}
	address := func(protocol string, port int) string {
		return fmt.Sprintf("/ip4/%s/%s/%d", node.IP(), protocol, port)
	}
	return fields{
		"record": node.String(), "seq": node.Seq(),
		"udp": address("udp", node.UDP()), "tcp": address("tcp", node.TCP()),
		"rs": value("rs"), "waku2": value("waku2"), "multiaddrs": value("multiaddrs"),
	}
}

type command struct {
	Ref     uint64   `json:"ref"`
	Cmd     string   `json:"cmd"`
	Record  string   `json:"record"`
	Records []string `json:"records"`
	Domain  string   `json:"domain"`
}

func nodes(records []string) ([]*enode.Node, error) {
	var nodes []*enode.Node
	for _, record := range records {
		node, err := enode.Parse(enode.ValidSchemes, record)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func sign(records []string, domain string) (fields, error) {
	listed, err := nodes(records)
	if err != nil {
		return nil, err
	}
	tree, err := dnsdisc.MakeTree(1, listed, nil)
	if err != nil {
		return nil, err
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, err
	}
	url, err := tree.Sign(key, domain)
	return fields{"url": url, "texts": tree.ToTXT(domain)}, err
}

func run(udp *discover.UDPv5, asked command) (fields, error) {
	switch asked.Cmd {
	case "find":
		var target enode.ID
		if _, err := rand.Read(target[:]); err != nil {
			return nil, err
		}
		found := []fields{}
		for _, node := range udp.Lookup(target) {
			found = append(found, describe(node))
		}
		return fields{"records": found}, nil
	case "ask":
		asked, err := nodes([]string{asked.Record})
		if err != nil {
			return nil, err
		}
		node, err := udp.RequestENR(asked[0])
		if err != nil {
			return nil, err
		}
		return fields{"records": []fields{describe(node)}}, nil
	case "sign":
		return sign(asked.Records, asked.Domain)
	case "quit":
		return fields{}, nil
	}
	return nil, fmt.Errorf("unknown command %q", asked.Cmd)
}

func node() error {
	ip := flag.String("ip", "127.0.0.1", "address")
	port := flag.Int("port", 0, "UDP port")
	bootstrap := flag.String("bootstrap", "", "record of a node to begin with")
	rs := flag.String("rs", "", "value of rs in the record, hex")
	waku2 := flag.String("waku2", "", "value of waku2 in the record, hex")
	id := flag.String("protocol-id", "d5waku", "six letters")
	flag.Parse()

	tcp, err := trap(*ip)
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(*ip), Port: *port})
	if err != nil {
		return err
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return err
	}
	database, err := enode.OpenDB("")
	if err != nil {
		return err
	}
	local := enode.NewLocalNode(database, key)
	local.SetStaticIP(net.ParseIP(*ip))
	// Not Set(enr.UDP(...)): the library deletes a port that it does not know when it looks at what others say of its address.
	local.SetFallbackUDP(socket.LocalAddr().(*net.UDPAddr).Port)
	local.Set(enr.TCP(tcp))
	for name, text := range map[string]string{"rs": *rs, "waku2": *waku2} {
		value, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		if len(value) > 0 {
			local.Set(enr.WithEntry(name, value))
		}
	}
	var begin []*enode.Node
	if *bootstrap != "" {
		if begin, err = nodes([]string{*bootstrap}); err != nil {
			return err
		}
	}
	var protocol [6]byte
	copy(protocol[:], *id)
	config := discover.Config{PrivateKey: key, Bootnodes: begin, V5ProtocolID: &protocol}
	udp, err := discover.ListenV5(socket, local, config)
	if err != nil {
		return err
	}
	tell(fields{"event": "ready", "peer": "", "addrs": []string{}, "record": udp.Self().String()})

	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		go func() {
			result, err := run(udp, asked)
			if err != nil {
				tell(fields{"ref": asked.Ref, "error": err.Error()})
			} else {
				tell(fields{"ref": asked.Ref, "ok": result})
			}
			if asked.Cmd == "quit" {
				os.Exit(0)
			}
		}()
	}
	return lines.Err()
}

func main() {
	if err := node(); err != nil {
		log.Fatal(err)
	}
}
