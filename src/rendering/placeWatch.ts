export const placeTickMs = 250
// Ticks without traffic, one second in all, after which a page gives up its place. Such a page waits for a server or
// computes.
const idleTicks = 4
// Ticks, five seconds in all, after which any page gives up its place. This is twice the time of an ordinary page, and
// bounds pages whose server sends one byte at a time.
const placeTicksMax = 20

/** Decides when a page gives up its place in the browser to another job. */
export function createPlaceWatch(bytesMoved: () => number, onStall: () => void) {
  let [moved, idle, all] = [0, 0, 0]
  return {
    /** Counts one tick. Call this every `placeTickMs` while the page has its place. */
    tick(): void {
      all++
      idle = bytesMoved() === moved ? idle + 1 : 0
      moved = bytesMoved()
      if (idle === idleTicks || all === placeTicksMax) onStall()
    },
  }
}
