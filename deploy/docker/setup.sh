#!/bin/sh
# Puts the membership contract on a development chain, and makes a member of each node:
#   setup.sh RPC CONTRACT FOLDER...
# CONTRACT is where the contract of the chain's first account goes if it is the first thing that this account does.
# FOLDER is the data folder of a node. What is there already is left as it is.
set -eu
rpc=$1
contract=$2
shift 2

# The first account of every such chain. Everybody knows its key: never use it elsewhere.
export UNDERTONE_ETH_KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80

status() {
  undertone rln status --json --rpc "$rpc" --contract "$contract" --identity "$1/rln-identity.json"
}

for folder in "$@"; do
  if [ ! -e "$folder/rln-identity.json" ]; then
    undertone rln keygen --out "$folder/rln-identity.json"
  fi
done

# Nothing can be asked of a contract that is not there.
if ! status "$1" >/dev/null 2>&1; then
  undertone registry deploy --rpc "$rpc"
fi

for folder in "$@"; do
  case $(status "$folder") in
    *'"none"'*)
      undertone rln register --yes --rpc "$rpc" --contract "$contract" --identity "$folder/rln-identity.json"
      ;;
  esac
done
