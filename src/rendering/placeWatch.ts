export const placeTickMs = 250
// A page gives up its place after one second without traffic, because it waits for a server or computes.
const idleTicks = 4
// A page gives up its place after five seconds. This bounds pages whose server sends one byte at a time.
const placeTicksMax = 20

export function createPlaceWatch(bytesMoved: () => number, onStall: () => void) {
  let [moved, idle, all] = [0, 0, 0]
  return {
    /** Call this every `placeTickMs` while the page has its place. */
    tick(): void {
      all++
      idle = bytesMoved() === moved ? idle + 1 : 0
      moved = bytesMoved()
      if (idle === idleTicks || all === placeTicksMax) onStall()
    },
  }
}
