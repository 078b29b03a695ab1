export interface ListedName {
  readonly symbol: string
  readonly name: string
}

/**
 * Finds the items that match the query. Equal symbols come first, then symbols that begin with the query, then names
 * with a word that begins with it.
 */
export function findListed<T extends ListedName>(items: readonly T[], query: string): readonly T[] {
  const wanted = plain(query)
  const ranked = items.flatMap((item): [rank: number, item: T][] => {
    const symbol = plain(item.symbol)
    if (symbol === wanted) return [[0, item]]
    if (symbol.startsWith(wanted)) return [[1, item]]
    return ` ${plain(item.name)}`.includes(` ${wanted}`) ? [[2, item]] : []
  })
  return ranked.toSorted(([one], [other]) => one - other).map(([, item]) => item)
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, ' ')
    .trim()
}
