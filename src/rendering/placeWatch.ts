/** Decides when a page passes its place in the browser on to another. */
export interface PlaceWatch {
  /** To be called every `placeTickMs`. */
  tick(): void
}

export interface PlaceWatchDeps {
  readonly bytesMoved: () => number
  readonly onStall: () => void
}

export const placeTickMs = 250
// A page without traffic waits for a server or computes; neither is a reason to keep other pages waiting.
const idleTicks = 4
// Nor is a server that sends a byte at a time. Five seconds are twice what an ordinary page takes.
const placeTicksMax = 20

export function createPlaceWatch({ bytesMoved, onStall }: PlaceWatchDeps): PlaceWatch {
  let [moved, idle, all] = [0, 0, 0]
  return {
    tick() {
      all++
      idle = bytesMoved() === moved ? idle + 1 : 0
      moved = bytesMoved()
      if (idle === idleTicks || all === placeTicksMax) onStall()
    },
  }
}
