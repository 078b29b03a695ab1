const perPage = 65_536

/** A small number for each position, 4 bytes each; 0 where there is none. */
export class PositionIndex {
  readonly #pages: Uint32Array[]

  constructor(pages: readonly Uint8Array[] = []) {
    this.#pages = pages.map((bytes) => {
      const page = new Uint32Array(perPage)
      new Uint8Array(page.buffer).set(bytes)
      return page
    })
  }

  set(position: number, value: number): void {
    const at = Math.floor(position / perPage)
    // A position far beyond the others is a finding already, and no reason to fill memory with pages.
    if (at > this.#pages.length + gapPagesMax) return
    while (this.#pages.length <= at) this.#pages.push(new Uint32Array(perPage))
    const page = this.#pages[at]
    if (page !== undefined) page[position % perPage] = value
  }

  get(position: number): number {
    return this.#pages[Math.floor(position / perPage)]?.[position % perPage] ?? 0
  }

  bytes(): readonly Uint8Array[] {
    return this.#pages.map((page) => new Uint8Array(page.buffer))
  }

  static readonly pageBytes = perPage * 4
}

const gapPagesMax = 16
