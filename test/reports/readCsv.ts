/** Reads the part of RFC 4180 that exports use: one record a row, by the names of the first row. */
export function readCsv(text: string): readonly Record<string, string>[] {
  const records = [...text.matchAll(/((?:"(?:[^"]|"")*"|[^,\r\n"]*)(?:,(?:"(?:[^"]|"")*"|[^,\r\n"]*))*)\r\n/g)]
  const cells = records.map(([, line = '']) =>
    [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
      ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
    ),
  )
  const [names = [], ...rows] = cells
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])))
}
