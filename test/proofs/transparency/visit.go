package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// visitAgain is what an auditor does a while later: the book of today begins with the book of then, and holds the receipt.
func visitAgain(url, kept, leaf string) {
	s := &service{url: url}
	verifier, _ := readVerifier(s)
	then := must(openTree(string(must(os.ReadFile(kept))), verifier))
	now := must(openTree(s.text("/checkpoint"), verifier))
	f := &finding{What: fmt.Sprintf("growth from the checkpoint kept at %d to the one of %d, and the leaf of a receipt in it", then.N, now.N)}

	var consistency consistencyAnswer
	s.data(fmt.Sprintf("/api/ledger/consistency/%d-%d", then.N, now.N), &consistency)
	var path tlog.TreeProof
	for _, hash := range consistency.Path {
		path = append(path, must(tlog.ParseHash(hash)))
	}
	err := tlog.CheckTree(path, now.N, now.Hash, then.N, then.Hash)
	if then.N >= now.N {
		err = errors.New("it has not grown")
	}
	f.note(err, "consistency")
	f.note(checkReceipt(s, now, leaf), "receipt "+leaf)
	f.tell()
}

// checkReceipt makes the proof itself, of tiles: the service's own proofs are checked elsewhere.
func checkReceipt(s *service, now tlog.Tree, leaf string) error {
	positionText, hashText, _ := strings.Cut(leaf, ":")
	n := must(strconv.ParseInt(positionText, 10, 64)) - 1
	var hash tlog.Hash
	if copy(hash[:], must(hex.DecodeString(hashText))) != tlog.HashSize {
		return errors.New("the receipt has no leaf hash")
	}
	reader := tlog.TileHashReader(now, &tileReader{from: s, seen: map[tlog.Tile][]byte{}})
	proof, err := tlog.ProveRecord(now.N, n, reader)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(proof, now.N, now.Hash, n, hash)
}
