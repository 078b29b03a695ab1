package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

/*
 * The other side: whatever is altered on the way has to be refused. Without it the checks above would also be passed by a
 * checker that says yes to everything.
 */

var errAccepted = errors.New("accepted")

// refuse counts an attempt; it fails when the attempt got through.
func (f *finding) refuse(err error, where string) {
	if err == nil {
		f.note(errAccepted, where)
		return
	}
	f.note(nil, where)
}

func flipped(data []byte, bit int) []byte {
	copied := append([]byte{}, data...)
	copied[bit/8] ^= 1 << (bit % 8)
	return copied
}

// attackNote flips every bit that is signed, of the signature and of the key, and brings keys that did not sign.
func (l *ledger) attackNote() {
	f := &finding{What: "notes with one bit flipped in text, name, key hash or signature, and other keys: refused"}
	known := note.VerifierList(l.verifier)
	end := strings.LastIndex(l.signed, " ") + 1
	// Base64 is decoded first: its last character has bits that mean nothing.
	signature := must(base64.StdEncoding.DecodeString(strings.TrimSuffix(l.signed[end:], "\n")))
	for bit := 0; bit < 8*end; bit++ {
		_, err := note.Open(append(flipped([]byte(l.signed[:end]), bit), l.signed[end:]...), known)
		f.refuse(err, fmt.Sprintf("bit %d", bit))
	}
	for bit := 0; bit < 8*len(signature); bit++ {
		altered := base64.StdEncoding.EncodeToString(flipped(signature, bit))
		_, err := note.Open([]byte(l.signed[:end]+altered+"\n"), known)
		f.refuse(err, fmt.Sprintf("bit %d of the signature", bit))
	}
	_, key := readVerifier(l.service)
	for bit := 0; bit < 8*len(key); bit++ {
		verifier, err := note.NewVerifier(string(flipped([]byte(key), bit)))
		if err == nil && verifier.Name() == l.verifier.Name() && verifier.KeyHash() == l.verifier.KeyHash() {
			// Another spelling of the same key: a lower-case digit of its hash became an upper-case one.
			continue
		}
		if err == nil {
			_, err = note.Open([]byte(l.signed), note.VerifierList(verifier))
		}
		f.refuse(err, fmt.Sprintf("bit %d of the key", bit))
	}
	_, other, err := note.GenerateKey(l.random, l.verifier.Name())
	if err != nil {
		stop(err)
	}
	_, err = note.Open([]byte(l.signed), note.VerifierList(must(note.NewVerifier(other))))
	f.refuse(err, "another key of the same name")
	_, err = note.Open([]byte(strings.SplitAfter(l.signed, "\n\n")[0]), known)
	f.refuse(err, "no signature")
	f.tell()
}

func (l *ledger) attackEntries(proofs []recordProof) {
	f := &finding{What: "entries with one bit flipped, or of another position: refused"}
	for _, p := range proofs {
		entry := l.entries[p.n]
		altered := flipped(entry, l.random.Intn(8*len(entry)))
		f.refuse(tlog.CheckRecord(p.path, p.size, p.root, p.n, tlog.RecordHash(altered)), fmt.Sprintf("entry %d", p.n))
		neighbour := l.entries[(p.n+1)%p.size]
		f.refuse(tlog.CheckRecord(p.path, p.size, p.root, p.n, tlog.RecordHash(neighbour)), fmt.Sprintf("entry %d for %d", p.n+1, p.n))
	}
	f.tell()
}

// alterations of a path: each hash with a bit flipped, one left out at either end, one too many at either end.
func (l *ledger) alterations(path []tlog.Hash) (altered [][]tlog.Hash) {
	for i := range path {
		one := append([]tlog.Hash{}, path...)
		one[i][l.random.Intn(tlog.HashSize)] ^= 1 << l.random.Intn(8)
		altered = append(altered, one)
	}
	if len(path) > 0 {
		altered = append(altered, path[1:], path[:len(path)-1])
	}
	more := append([]tlog.Hash{l.tree.Hash}, path...)
	return append(altered, more, append(append([]tlog.Hash{}, path...), l.tree.Hash))
}

func (l *ledger) attackInclusion(proofs []recordProof) {
	f := &finding{What: "inclusion proofs with a bit flipped, a hash less or more, of another leaf or root: refused"}
	for _, p := range proofs {
		for i, path := range l.alterations(p.path) {
			f.refuse(tlog.CheckRecord(path, p.size, p.root, p.n, l.leaves[p.n]), fmt.Sprintf("leaf %d, alteration %d", p.n, i))
		}
		if other := p.n ^ 1; other < p.size {
			f.refuse(tlog.CheckRecord(p.path, p.size, p.root, other, l.leaves[p.n]), fmt.Sprintf("leaf %d at %d", p.n, other))
		}
		root := l.own.rootAt(p.size - 1)
		f.refuse(tlog.CheckRecord(p.path, p.size, root, p.n, l.leaves[p.n]), fmt.Sprintf("leaf %d, another root", p.n))
	}
	f.tell()
}

func (l *ledger) attackConsistency(proofs []treeProof) {
	f := &finding{What: "consistency proofs with a bit flipped, a hash less or more, of another root: refused"}
	for _, p := range proofs {
		where := fmt.Sprintf("%d to %d", p.from, p.to)
		for i, path := range l.alterations(p.path) {
			f.refuse(tlog.CheckTree(path, p.to, p.toRoot, p.from, p.fromRoot), fmt.Sprintf("%s, alteration %d", where, i))
		}
		other := tlog.RecordHash([]byte("another root"))
		f.refuse(tlog.CheckTree(p.path, p.to, other, p.from, p.fromRoot), where+", another later root")
		f.refuse(tlog.CheckTree(p.path, p.to, p.toRoot, p.from, other), where+", another earlier root")
	}
	f.tell()
}

// attackTiles spoils one tile after the other on the way, and lets a client prove the leaf that needs the spoilt hash.
// tlog.TileHashReader is not enough: in x/mod 0.7.0 it leaves out some tiles when it compares each with its parent (it
// begins behind as many tiles as the tree has subtrees, and several of these share a tile). Proofs close that gap.
func (l *ledger) attackTiles() {
	f := &finding{}
	byReader := 0
	for _, target := range tilesOf(l.tree.N) {
		bit := l.random.Intn(8 * tlog.HashSize * target.W)
		spoilt := &tileReader{from: l.service, seen: l.tiles.seen, spoil: func(tile tlog.Tile, data []byte) []byte {
			if tile == target {
				return flipped(data, bit)
			}
			return data
		}}
		n := l.leafBeside(target, bit/(8*tlog.HashSize))
		_, err := tlog.TileHashReader(l.tree, spoilt).ReadHashes([]int64{tlog.StoredHashIndex(0, n)})
		if err != nil {
			byReader++
		}
		f.refuse(proveByTiles(l.tree, spoilt, n), pathOf(target))
	}
	f.What = fmt.Sprintf("tiles with one bit flipped on the way: no proof made of them leads to the root (%d refused by TileHashReader alone)", byReader)
	f.tell()
}

// leafBeside is a leaf whose proof needs the k-th hash of a tile: the hash itself if it is a leaf, or one in the subtree
// that is its sibling, which is what follows it where the tile ends.
func (l *ledger) leafBeside(tile tlog.Tile, k int) int64 {
	node := tile.N*tileWidth + int64(k)
	if tile.L > 0 && k^1 < tile.W {
		node ^= 1
	} else if tile.L > 0 {
		node++
	}
	return node << (tileHeight * tile.L)
}

// proveByTiles is a client that reads nothing but tiles: leaf and proof are theirs, and have to lead to the signed root.
func proveByTiles(tree tlog.Tree, tiles *tileReader, n int64) error {
	reader := tlog.TileHashReader(tree, tiles)
	leaves, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, n)})
	if err != nil {
		return err
	}
	proof, err := tlog.ProveRecord(tree.N, n, reader)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(proof, tree.N, tree.Hash, n, leaves[0])
}
