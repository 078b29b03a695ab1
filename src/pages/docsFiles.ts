import { sha256Hex } from '@tollbook/core/digest'
import { readPageFiles } from './pages.ts'
import type { StaticFile } from '../transport/staticFile.ts'

/** The documentation as the service serves it at `/docs`. */
export interface DocsFiles {
  /** By name, below `/docs/`. */
  readonly files: ReadonlyMap<string, StaticFile>
  /** Address of a file, relative to the page at `/docs`. */
  addressOf(name: string): string
}

/** Files of the page at `/docs`. The digest in the address lets browsers cache a file without limit and fetch a new one at once. */
export async function readDocsFiles(): Promise<DocsFiles> {
  const files = await readPageFiles(['style.css', 'docs.css', 'docs.js', 'icon.svg'])
  const digests = new Map([...files].map(([name, { bytes }]) => [name, sha256Hex(bytes).slice(0, 16)]))
  return { files, addressOf: (name) => `docs/${name}?v=${digests.get(name) ?? ''}` }
}
