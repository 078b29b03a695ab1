package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A ledger as somebody finds it who has its verifier key and nothing else of it.
type ledger struct {
	*service
	verifier note.Verifier
	signed   string
	tree     tlog.Tree
	tiles    *tileReader
	// Everything below is made by Go of the entries; the service's hashes are held against it.
	entries [][]byte
	leaves  []tlog.Hash
	own     hashStore
	// Sizes for which the service has shown a checkpoint, with their roots.
	signedRoots map[int64]tlog.Hash
	random      *rand.Rand
}

func checkLedger(url string, proofs int, seed int64, keep string) {
	l := &ledger{service: &service{url: url}, signedRoots: map[int64]tlog.Hash{}, random: rand.New(rand.NewSource(seed))}
	l.checkNote()
	if keep != "" {
		must(0, os.WriteFile(keep, []byte(l.signed), 0o600))
	}
	l.checkEntries()
	l.checkTiles()
	recordProofs := l.checkInclusion(proofs)
	treeProofs := l.checkConsistency(proofs)
	l.checkSignedSizes()
	l.checkAbsence()
	l.attackNote()
	l.attackEntries(recordProofs)
	l.attackInclusion(recordProofs)
	l.attackConsistency(treeProofs)
	l.attackTiles()
}

// openTree opens a note with the ledger's key and reads the tree in it with Go's own parser, which expects Go's own origin.
func openTree(text string, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	if origin != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the origin is %q, the key is of %q", origin, verifier.Name())
	}
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + rest))
	if err != nil {
		return tlog.Tree{}, err
	}
	if strings.Replace(string(tlog.FormatTree(tree)), "go.sum database tree", origin, 1) != opened.Text {
		return tlog.Tree{}, errors.New("Go would have written the same tree otherwise")
	}
	return tree, nil
}

func readVerifier(s *service) (note.Verifier, string) {
	key := s.text("/api/ledger/key")
	if !strings.HasSuffix(key, "\n") {
		stop(errors.New("the verifier key does not end its line"))
	}
	return must(note.NewVerifier(strings.TrimSuffix(key, "\n"))), strings.TrimSuffix(key, "\n")
}

func (l *ledger) checkNote() {
	f := &finding{What: "checkpoints, opened by note.Open with the published key"}
	verifier, key := readVerifier(l.service)
	l.verifier = verifier
	l.signed = l.text("/checkpoint")
	tree, err := openTree(l.signed, verifier)
	f.note(err, "/checkpoint")
	if err != nil {
		f.tell()
		stop(err)
	}
	l.tree = tree
	_, err = openTree(l.text("/api/ledger/checkpoint"), verifier)
	f.note(err, "/api/ledger/checkpoint")
	f.note(l.compareKeys(key), "/.well-known/jwks.json")
	f.tell()
}

// compareKeys makes the verifier key again from the key of the receipts.
func (l *ledger) compareKeys(key string) error {
	_, body := l.get("/.well-known/jwks.json")
	_, x, _ := strings.Cut(string(body), `"x":"`)
	x, _, _ = strings.Cut(x, `"`)
	public, err := base64.RawURLEncoding.DecodeString(x)
	if err != nil {
		return err
	}
	same, err := note.NewEd25519VerifierKey(l.verifier.Name(), ed25519.PublicKey(public))
	if err == nil && same != key {
		err = fmt.Errorf("it is %s, and %s is published", same, key)
	}
	return err
}

// checkEntries reads every bundle and makes the whole tree of what is in it.
func (l *ledger) checkEntries() {
	f := &finding{What: "entries, hashed by tlog.RecordHash into a tree that has the signed root"}
	for _, tile := range tilesOf(l.tree.N) {
		if tile.L > 0 {
			continue
		}
		entries, err := l.readEntries(tile)
		if err != nil {
			stop(err)
		}
		for _, entry := range entries {
			n := int64(len(l.entries))
			if len(entry) < 16 || binary.BigEndian.Uint64(entry) != uint64(n+1) {
				f.note(errors.New("it does not begin with its position"), fmt.Sprintf("entry %d", n))
			}
			leaf := tlog.RecordHash(entry)
			l.entries = append(l.entries, entry)
			l.leaves = append(l.leaves, leaf)
			l.own.add(n, leaf)
			f.note(nil, "")
		}
	}
	if l.own.rootAt(l.tree.N) != l.tree.Hash {
		f.note(errors.New("their root is another than the signed one"), "all entries")
	}
	f.tell()
}

// checkTiles reads every tile of every level as Go's clients do, and holds it against the entries.
func (l *ledger) checkTiles() {
	l.tiles = &tileReader{from: l.service, seen: map[tlog.Tile][]byte{}}
	reader := tlog.TileHashReader(l.tree, l.tiles)
	roots := &finding{What: "tlog.TreeHash over tlog.TileHashReader gives the signed root"}
	root, err := tlog.TreeHash(l.tree.N, reader)
	if err == nil && root != l.tree.Hash {
		err = fmt.Errorf("it gives %v", root)
	}
	roots.note(err, fmt.Sprintf("size %d", l.tree.N))
	roots.tell()

	leaves := &finding{What: "leaves, read by TileHashReader from tiles, each tlog.RecordHash of its entry"}
	for first := int64(0); first < l.tree.N; first += tileWidth {
		var indexes []int64
		for n := first; n < first+tileWidth && n < l.tree.N; n++ {
			indexes = append(indexes, tlog.StoredHashIndex(0, n))
		}
		hashes, err := reader.ReadHashes(indexes)
		for i := range indexes {
			if err == nil && hashes[i] != l.leaves[first+int64(i)] {
				err = errors.New("another hash")
			}
			leaves.note(err, fmt.Sprintf("leaf %d", first+int64(i)))
		}
	}
	leaves.tell()

	levels := map[int]int{}
	all := &finding{}
	for _, tile := range tilesOf(l.tree.N) {
		body, err := l.tiles.ReadTiles([]tlog.Tile{tile})
		if err == nil && !bytes.Equal(body[0], must(tlog.ReadTileData(tile, l.own))) {
			err = errors.New("not the hashes that the entries give")
		}
		all.note(err, pathOf(tile))
		levels[tile.L]++
	}
	all.What = fmt.Sprintf("tiles of %d levels (%v), each as tlog.ReadTileData makes it of the entries", len(levels), levels)
	all.tell()
}

// A record proof with what it is about.
type recordProof struct {
	size, n int64
	root    tlog.Hash
	path    tlog.RecordProof
}

type inclusionAnswer struct {
	LeafHash, Root, Checkpoint string
	TreeSize                   int64
	Path                       []string
}

func (l *ledger) checkInclusion(count int) (proofs []recordProof) {
	f := &finding{What: "inclusion proofs at random positions, by tlog.CheckRecord from the entry"}
	positions := []int64{1, 2, 255, 256, 257, 65535, 65536, 65537, l.tree.N - 1, l.tree.N}
	for i := 0; i < count; i++ {
		positions = append(positions, 1+l.random.Int63n(l.tree.N))
	}
	for _, position := range positions {
		if position > l.tree.N {
			continue
		}
		proof, err := l.inclusionAt(position, l.tree.N)
		f.note(err, fmt.Sprintf("position %d", position))
		if err == nil {
			proofs = append(proofs, proof)
		}
	}
	f.tell()
	return proofs
}

// inclusionAt asks for a proof and believes nothing of it: root and leaf are Go's own.
func (l *ledger) inclusionAt(position, size int64) (recordProof, error) {
	var answer inclusionAnswer
	l.data(fmt.Sprintf("/api/ledger/inclusion/%d?treeSize=%d", position, size), &answer)
	proof := recordProof{size: size, n: position - 1, root: l.own.rootAt(size)}
	for _, hash := range answer.Path {
		proof.path = append(proof.path, must(tlog.ParseHash(hash)))
	}
	signed, err := openTree(answer.Checkpoint, l.verifier)
	if err != nil {
		return proof, err
	}
	leaf := tlog.RecordHash(l.entries[proof.n])
	if signed.N != size || signed.Hash != proof.root || answer.Root != proof.root.String() || answer.LeafHash != leaf.String() {
		return proof, errors.New("its checkpoint, root or leaf is another")
	}
	if same := must(tlog.ProveRecord(size, proof.n, l.own)); fmt.Sprint(same) != fmt.Sprint(proof.path) {
		return proof, errors.New("tlog.ProveRecord makes another path")
	}
	return proof, tlog.CheckRecord(proof.path, size, proof.root, proof.n, leaf)
}

// A tree proof with what it is about.
type treeProof struct {
	from, to         int64
	fromRoot, toRoot tlog.Hash
	path             tlog.TreeProof
}

// edgeSizes are those at which the algorithms turn: around powers of two, at the ends, and where a tile begins.
func edgeSizes(size int64) (sizes []int64) {
	seen := map[int64]bool{}
	add := func(n int64) {
		if n >= 1 && n <= size && !seen[n] {
			seen[n] = true
			sizes = append(sizes, n)
		}
	}
	for power := int64(1); power <= size; power *= 2 {
		add(power - 1)
		add(power)
		add(power + 1)
	}
	for _, n := range []int64{size / tileWidth * tileWidth, size - 1, size} {
		add(n)
	}
	return sizes
}

func (l *ledger) checkConsistency(count int) (proofs []treeProof) {
	var pairs [][2]int64
	edges := edgeSizes(l.tree.N)
	for _, from := range edges {
		for _, to := range edges {
			if from <= to {
				pairs = append(pairs, [2]int64{from, to})
			}
		}
	}
	for i := 0; i < count; i++ {
		to := 1 + l.random.Int63n(l.tree.N)
		pairs = append(pairs, [2]int64{1 + l.random.Int63n(to), to})
	}
	f := &finding{What: fmt.Sprintf("consistency proofs (%d around powers of two and at the ends, the rest at random), by tlog.CheckTree", len(pairs)-count)}
	for _, pair := range pairs {
		proof, err := l.consistencyOf(pair[0], pair[1])
		f.note(err, fmt.Sprintf("%d to %d", pair[0], pair[1]))
		if err == nil {
			proofs = append(proofs, proof)
		}
	}
	f.tell()
	return proofs
}

type consistencyAnswer struct {
	Path        []string
	Checkpoints struct{ From, To *string }
}

func (l *ledger) consistencyOf(from, to int64) (treeProof, error) {
	var answer consistencyAnswer
	l.data(fmt.Sprintf("/api/ledger/consistency/%d-%d", from, to), &answer)
	proof := treeProof{from: from, to: to, fromRoot: l.own.rootAt(from), toRoot: l.own.rootAt(to)}
	for _, hash := range answer.Path {
		proof.path = append(proof.path, must(tlog.ParseHash(hash)))
	}
	for size, signed := range map[int64]*string{from: answer.Checkpoints.From, to: answer.Checkpoints.To} {
		if signed == nil {
			continue
		}
		tree, err := openTree(*signed, l.verifier)
		if err == nil && (tree.N != size || tree.Hash != l.own.rootAt(size)) {
			err = fmt.Errorf("the checkpoint of size %d is of another tree", size)
		}
		if err != nil {
			return proof, err
		}
		l.signedRoots[size] = tree.Hash
	}
	if same := must(tlog.ProveTree(to, from, l.own)); fmt.Sprint(same) != fmt.Sprint(proof.path) {
		return proof, errors.New("tlog.ProveTree makes another path")
	}
	return proof, tlog.CheckTree(proof.path, to, proof.toRoot, from, proof.fromRoot)
}

// checkSignedSizes reads the tree as it was at earlier sizes, through the partial tiles that it had then.
func (l *ledger) checkSignedSizes() {
	f := &finding{What: fmt.Sprintf("earlier sizes (%d of them with a checkpoint), read through the partial tiles of their time", len(l.signedRoots))}
	sizes := []int64{}
	for size := range l.signedRoots {
		sizes = append(sizes, size)
	}
	for i := 0; i < 50; i++ {
		sizes = append(sizes, 1+l.random.Int63n(l.tree.N))
	}
	for _, size := range sizes {
		then := tlog.Tree{N: size, Hash: l.own.rootAt(size)}
		root, err := tlog.TreeHash(size, tlog.TileHashReader(then, l.tiles))
		if err == nil && root != then.Hash {
			err = errors.New("another root")
		}
		f.note(err, fmt.Sprintf("size %d", size))
		if _, ok := l.signedRoots[size]; ok {
			_, err := l.inclusionAt(1+l.random.Int63n(size), size)
			f.note(err, fmt.Sprintf("an inclusion proof at size %d", size))
		}
	}
	f.tell()
}

// checkAbsence asks for what the tree does not reach and what is no path: a client that looks ahead must be told to wait.
func (l *ledger) checkAbsence() {
	f := &finding{What: "paths beyond the tree, or of no tile, answered 404 and not to be cached"}
	paths := []string{"/tile/0/x001/000/000", "/tile/00/000", "/tile/64/000", "/tile/0/0", "/tile/0/000.p/0", "/tile/0/000.p/256", "/tile/0/000.p/01", "/tile/8/0/000", "/tile/data/000"}
	for level, size := 0, l.tree.N; level < 6; level, size = level+1, size/tileWidth {
		// Far beyond, because the ledger grows while it is read: what is next after the checkpoint may be there by now.
		for _, beyond := range []tlog.Tile{{N: size/tileWidth + 1000, W: 1}, {N: size/tileWidth + 1_234_567, W: tileWidth}} {
			beyond.H, beyond.L = tileHeight, level
			paths = append(paths, pathOf(beyond))
			if level == 0 {
				paths = append(paths, entriesPathOf(beyond))
			}
		}
	}
	for _, path := range paths {
		response, _ := l.get(path)
		var err error
		if response.StatusCode != 404 || response.Header.Get("Cache-Control") != "no-store" {
			err = fmt.Errorf("%s, %s", response.Status, response.Header.Get("Cache-Control"))
		}
		f.note(err, path)
	}
	f.tell()
}
