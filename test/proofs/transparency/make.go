package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A log that Go has made, with all its proofs up to a size and some of a larger one. The service had no part in it.
type foreignLog struct {
	VerifierKey string `json:"verifierKey"`
	// The 32 bytes of the private key: receipts are signed with the same one.
	SigningSeed   []byte               `json:"signingSeed"`
	WitnessKey    string               `json:"witnessKey"`
	Trees         []foreignTree        `json:"trees"`
	Inclusions    []foreignInclusion   `json:"inclusions"`
	Consistencies []foreignConsistency `json:"consistencies"`
}

type foreignTree struct {
	Size int64     `json:"size"`
	Root tlog.Hash `json:"root"`
	// Signed by the log and, in front of that, by a witness whom nobody has told our verifiers of.
	Note string `json:"note"`
}

type foreignInclusion struct {
	Index int64            `json:"index"`
	Size  int64            `json:"size"`
	Entry []byte           `json:"entry"`
	Path  tlog.RecordProof `json:"path"`
}

type foreignConsistency struct {
	From int64          `json:"from"`
	To   int64          `json:"to"`
	Path tlog.TreeProof `json:"path"`
}

const origin = "go.example/log"

// Every proof of every tree up to here; of the large one as many as are asked for.
const smallMax = 64
const largeSize = 70_001

type maker struct {
	foreignLog
	random          *rand.Rand
	store           hashStore
	entries         [][]byte
	signer, witness note.Signer
	noted           map[int64]bool
}

func makeLog(proofs int, seed int64) {
	m := &maker{random: rand.New(rand.NewSource(seed)), noted: map[int64]bool{}}
	m.makeKeys()
	for n := int64(0); n < largeSize; n++ {
		m.addEntry(n)
	}
	for size := int64(1); size <= smallMax; size++ {
		for n := int64(0); n < size; n++ {
			m.proveRecord(n, size)
			m.proveTree(n+1, size)
		}
	}
	edges := edgeSizes(largeSize)
	for i := 0; i < proofs; i++ {
		size := edges[m.random.Intn(len(edges))]
		m.proveRecord(m.random.Int63n(size), size)
		m.proveTree(1+m.random.Int63n(size), size)
	}
	tell(m.foreignLog)
}

func (m *maker) makeKeys() {
	private, public, err := note.GenerateKey(m.random, origin)
	witnessPrivate, witnessPublic, err2 := note.GenerateKey(m.random, "witness.example/\u200dw")
	if err != nil || err2 != nil {
		stop(fmt.Errorf("no keys: %v, %v", err, err2))
	}
	m.signer, m.witness = must(note.NewSigner(private)), must(note.NewSigner(witnessPrivate))
	m.VerifierKey, m.WitnessKey = public, witnessPublic
	// PRIVATE+KEY+name+hash+key, the key being base64 of a type and 32 bytes; base64 may have a plus of its own.
	encoded := private[len(private)-base64.StdEncoding.EncodedLen(1+ed25519.SeedSize):]
	m.SigningSeed = must(base64.StdEncoding.DecodeString(encoded))[1:]
}

// addEntry records something of any length in the form of our entries: position, time, body.
func (m *maker) addEntry(n int64) {
	entry := make([]byte, 16+m.random.Intn(300))
	m.random.Read(entry)
	binary.BigEndian.PutUint64(entry, uint64(n+1))
	binary.BigEndian.PutUint64(entry[8:], uint64(1_700_000_000_000+n))
	m.entries = append(m.entries, entry)
	m.store.add(n, tlog.RecordHash(entry))
}

// addTree signs the tree of a size, once, and lets a witness sign too.
func (m *maker) addTree(size int64) {
	if m.noted[size] {
		return
	}
	m.noted[size] = true
	root := m.store.rootAt(size)
	text := strings.Replace(string(tlog.FormatTree(tlog.Tree{N: size, Hash: root})), "go.sum database tree", origin, 1)
	signed := must(note.Sign(&note.Note{Text: text}, m.witness, m.signer))
	m.Trees = append(m.Trees, foreignTree{size, root, string(signed)})
}

func (m *maker) proveRecord(n, size int64) {
	m.addTree(size)
	// A path without hashes is an empty list in JSON, and not null.
	path := append(tlog.RecordProof{}, must(tlog.ProveRecord(size, n, m.store))...)
	m.Inclusions = append(m.Inclusions, foreignInclusion{n, size, m.entries[n], path})
}

func (m *maker) proveTree(from, to int64) {
	m.addTree(from)
	m.addTree(to)
	path := append(tlog.TreeProof{}, must(tlog.ProveTree(to, from, m.store))...)
	m.Consistencies = append(m.Consistencies, foreignConsistency{from, to, path})
}
