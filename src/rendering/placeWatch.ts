export const placeTickMs = 250
// One second. A page without traffic waits for a server or computes, so its place passes to another page.
const idleTicks = 4
// Five seconds, twice what an ordinary page takes. This bounds pages whose server sends a byte at a time.
const placeTicksMax = 20

/** Decides when a page gives up its place in the browser to another job. */
export function createPlaceWatch(bytesMoved: () => number, onStall: () => void) {
  let [moved, idle, all] = [0, 0, 0]
  return {
    /** Call this every `placeTickMs`. */
    tick(): void {
      all++
      idle = bytesMoved() === moved ? idle + 1 : 0
      moved = bytesMoved()
      if (idle === idleTicks || all === placeTicksMax) onStall()
    },
  }
}
