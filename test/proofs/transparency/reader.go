package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// C2SP tlog-tiles knows one height, and leaves it out of the paths.
const tileHeight = 8
const tileWidth = 1 << tileHeight

// A tree has 40 MB of tiles and proofs at most here; nothing may grow beyond that unnoticed.
const bodyMax = 40 << 20

// A service is read over HTTP and in no other way.
type service struct{ url string }

func (s *service) get(path string) (*http.Response, []byte) {
	request := must(http.NewRequest("GET", s.url+path, nil))
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	return response, must(io.ReadAll(io.LimitReader(response.Body, bodyMax)))
}

func (s *service) text(path string) string {
	response, body := s.get(path)
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		stop(fmt.Errorf("%s is %s, %s", path, response.Status, response.Header.Get("Content-Type")))
	}
	return string(body)
}

// data reads the answer of a route of the service's own.
func (s *service) data(path string, into any) {
	response, body := s.get(path)
	if response.StatusCode != 200 {
		stop(fmt.Errorf("%s is %s: %s", path, response.Status, body))
	}
	must(0, json.Unmarshal(body, &struct {
		Data any `json:"data"`
	}{into}))
}

// static reads what C2SP calls a static resource: bytes that anybody may cache for ever. Entries come compressed, hashes
// do not; Go asks for gzip by itself, and undoes it.
func (s *service) static(path string) ([]byte, error) {
	response, body := s.get(path)
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("%s is %s", path, response.Status)
	}
	if response.Uncompressed != strings.HasPrefix(path, "/tile/entries/") {
		return nil, fmt.Errorf("%s has come compressed: %v", path, response.Uncompressed)
	}
	if kind := response.Header.Get("Content-Type"); kind != "application/octet-stream" {
		return nil, fmt.Errorf("%s is called %s", path, kind)
	}
	if caching := response.Header.Get("Cache-Control"); !strings.Contains(caching, "max-age=31536000") {
		return nil, fmt.Errorf("%s may be cached %s", path, caching)
	}
	return body, nil
}

// pathOf is the address of a tile. Go has the height in its paths, C2SP has not: tile/8/0/x001/234 is tile/0/x001/234.
func pathOf(tile tlog.Tile) string {
	return "/tile/" + strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight))
}

// entriesPathOf is the address of the entries whose hashes a tile of leaves has.
func entriesPathOf(tile tlog.Tile) string {
	return strings.Replace(pathOf(tile), "/tile/0/", "/tile/entries/", 1)
}

// A tileReader asks for each tile once, and leaves it to tlog to vouch for what it got.
type tileReader struct {
	from *service
	seen map[tlog.Tile][]byte
	// What somebody on the way does to a tile; nil for an honest way.
	spoil func(tile tlog.Tile, data []byte) []byte
}

func (r *tileReader) Height() int { return tileHeight }

func (r *tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		if _, ok := r.seen[tile]; !ok {
			body, err := r.from.static(pathOf(tile))
			if err != nil {
				return nil, err
			}
			r.seen[tile] = body
		}
		data[i] = r.seen[tile]
		if r.spoil != nil {
			data[i] = r.spoil(tile, data[i])
		}
	}
	return data, nil
}

// readEntries takes an entry bundle apart: each entry behind two bytes of its length.
func (s *service) readEntries(tile tlog.Tile) ([][]byte, error) {
	path := entriesPathOf(tile)
	bundle, err := s.static(path)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(bundle) >= 2 {
		length := int(binary.BigEndian.Uint16(bundle))
		if len(bundle) < 2+length {
			return nil, fmt.Errorf("%s ends in the middle of an entry", path)
		}
		entries = append(entries, bundle[2:2+length])
		bundle = bundle[2+length:]
	}
	if len(entries) != tile.W || len(bundle) != 0 {
		return nil, fmt.Errorf("%s has %d entries, and %d bytes behind them", path, len(entries), len(bundle))
	}
	return entries, nil
}

// A hashStore is a tree that Go has made of the records themselves.
type hashStore []tlog.Hash

func (s hashStore) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = s[index]
	}
	return hashes, nil
}

func (s *hashStore) add(n int64, leaf tlog.Hash) {
	*s = append(*s, must(tlog.StoredHashesForRecordHash(n, leaf, *s))...)
}

func (s hashStore) rootAt(size int64) tlog.Hash { return must(tlog.TreeHash(size, s)) }

// tilesOf is every tile of a tree of that size: the full ones of each level, and its last one where that is partial.
func tilesOf(size int64) (tiles []tlog.Tile) {
	for level := 0; size > 0; level, size = level+1, size/tileWidth {
		for n := int64(0); n*tileWidth < size; n++ {
			width := size - n*tileWidth
			if width > tileWidth {
				width = tileWidth
			}
			tiles = append(tiles, tlog.Tile{H: tileHeight, L: level, N: n, W: int(width)})
		}
	}
	return tiles
}
