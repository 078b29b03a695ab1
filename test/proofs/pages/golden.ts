import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PNG } from 'pngjs'
import { z } from 'zod'

/** A reviewed picture, in few bytes: its size, and the mean brightness of its parts. */
export interface Golden {
  readonly width: number
  readonly height: number
  /** Two hexadecimal digits for each of 16 × 16 parts. */
  readonly cells: string
}

const goldenFile = fileURLToPath(new URL('goldens.json', import.meta.url))
const goldens = z.record(z.string(), z.object({ width: z.number(), height: z.number(), cells: z.string() }))
const cellsAcross = 16

export async function readGoldens(): Promise<Map<string, Golden>> {
  return new Map(Object.entries(goldens.parse(JSON.parse(await readFile(goldenFile, 'utf8')))))
}

export async function writeGoldens(all: ReadonlyMap<string, Golden>): Promise<void> {
  const rows = [...all].map(([name, golden]) => `  ${JSON.stringify(name)}: ${JSON.stringify(golden)}`)
  await writeFile(goldenFile, `{\n${rows.join(',\n')}\n}\n`)
}

export function goldenOf(png: Uint8Array): Golden {
  const { width, height, data } = PNG.sync.read(Buffer.from(png))
  const sums = new Float64Array(cellsAcross * cellsAcross)
  const counts = new Float64Array(sums.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const cell = Math.floor((y * cellsAcross) / height) * cellsAcross + Math.floor((x * cellsAcross) / width)
      const at = (y * width + x) * 4
      sums[cell] = (sums[cell] ?? 0) + ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0)) / 3
      counts[cell] = (counts[cell] ?? 0) + 1
    }
  const means = Array.from(sums, (sum, cell) => Math.round(sum / (counts[cell] ?? 1)))
  return { width, height, cells: Buffer.from(means).toString('hex') }
}

// Other fonts and another browser shift text by a few pixels; a missing picture or banner changes whole cells.
const differenceMax = 12
const heightDifferenceMax = 0.06

/** Undefined if the picture looks like the golden one. */
export function differenceFrom(golden: Golden, picture: Golden): string | undefined {
  const higher = Math.abs(picture.height - golden.height) / golden.height
  if (picture.width !== golden.width || higher > heightDifferenceMax)
    return `${picture.width} × ${picture.height} and not ${golden.width} × ${golden.height} pixels`
  const [cells, expected] = [Buffer.from(picture.cells, 'hex'), Buffer.from(golden.cells, 'hex')]
  const mean = cells.reduce((sum, cell, nth) => sum + Math.abs(cell - (expected[nth] ?? 0)), 0) / cells.length
  return mean > differenceMax
    ? `the picture differs from its golden one by ${mean.toFixed(1)} of 255 on average`
    : undefined
}
