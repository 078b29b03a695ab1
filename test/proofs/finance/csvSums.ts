import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { assertPresent } from '@tollbook/core/assert'

export interface CsvSums {
  /** Sum of each column whose name says that it holds base units. */
  readonly sums: ReadonlyMap<string, bigint>
  readonly rows: number
}

/** Reads as a spreadsheet would, row by row: no cell of ours has a comma or a quote. */
export async function sumsOfCsv(response: Response): Promise<CsvSums> {
  const lines = createInterface({ input: Readable.fromWeb(assertPresent(response.body, 'a CSV has a body')) })
  const sums = new Map<string, bigint>()
  let columns: readonly string[] | undefined
  let rows = 0
  for await (const line of lines) {
    const cells = line.split(',')
    if (columns === undefined) {
      columns = cells
      continue
    }
    rows++
    for (const [index, column] of columns.entries())
      if (column.endsWith('BaseUnits')) sums.set(column, (sums.get(column) ?? 0n) + BigInt(cells[index] ?? ''))
  }
  return { sums, rows }
}
