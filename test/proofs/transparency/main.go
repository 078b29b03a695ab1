// Checks a ledger with an implementation of transparency logs that is not ours: golang.org/x/mod/sumdb, the code behind
// Go's checksum database. It shares nothing with the service but HTTP and the pages of C2SP.
//
//	transparency check -url URL -proofs N -seed N -keep FILE   reads a whole ledger, and shows what it would refuse
//	transparency visit -url URL -kept FILE -leaf POSITION:HEX  comes back later with the checkpoint that it has kept
//	transparency make -proofs N -seed N                        makes a log of its own, for our verifiers to check
//
// One line of JSON on stdout for each thing that was checked; test/proofs/transparency.ts reads them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

// A finding says how often one thing was looked at, and where it did not hold.
type finding struct {
	What    string   `json:"what"`
	Checked int      `json:"checked"`
	Failed  []string `json:"failed"`
}

// More would only repeat what the first ones say.
const failedMax = 10

func (f *finding) note(err error, where string) {
	f.Checked++
	if err != nil && len(f.Failed) < failedMax {
		f.Failed = append(f.Failed, fmt.Sprintf("%s: %v", where, err))
	}
}

func (f *finding) tell() { tell(f) }

func tell(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		stop(err)
	}
}

// stop ends the program where going on would prove nothing: an answer that is missing, or of another form.
func stop(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func must[T any](value T, err error) T {
	if err != nil {
		stop(err)
	}
	return value
}

func main() {
	if len(os.Args) < 2 {
		stop(fmt.Errorf("check, visit or make"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	url := flags.String("url", "", "where the service is")
	proofs := flags.Int("proofs", 400, "how many proofs are picked at random")
	seed := flags.Int64("seed", 1, "what the picking begins with")
	keep := flags.String("keep", "", "where the checkpoint is kept for the next visit")
	kept := flags.String("kept", "", "the checkpoint of the last visit")
	leaf := flags.String("leaf", "", "position and leaf hash of a receipt")
	must(0, flags.Parse(os.Args[2:]))
	switch os.Args[1] {
	case "check":
		checkLedger(*url, *proofs, *seed, *keep)
	case "visit":
		visitAgain(*url, *kept, *leaf)
	case "make":
		makeLog(*proofs, *seed)
	default:
		stop(fmt.Errorf("check, visit or make"))
	}
}
