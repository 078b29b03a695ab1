import { readFile } from 'node:fs/promises'
import { sha256Hex } from '@tollbook/core/digest'
import { contentTypeOf, urlOf } from './pages.ts'
import { createStaticFile, type StaticFile } from '../transport/staticFile.ts'

/** The documentation as the service serves it at `/docs`. */
export interface DocsFiles {
  /** By name, below `/docs/`. */
  readonly files: ReadonlyMap<string, StaticFile>
  /** Address of a file, relative to the page at `/docs`. */
  addressOf(name: string): string
}

/** Files of the page at `/docs`. The digest in the address lets browsers cache a file without limit and fetch a new one at once. */
export async function readDocsFiles(): Promise<DocsFiles> {
  const files = new Map<string, StaticFile>()
  const digests = new Map<string, string>()
  for (const name of ['style.css', 'docs.css', 'docs.js', 'icon.svg']) {
    const bytes = await readFile(urlOf(name))
    files.set(name, createStaticFile(contentTypeOf(name), bytes))
    digests.set(name, sha256Hex(bytes).slice(0, 16))
  }
  return { files, addressOf: (name) => `docs/${name}?v=${digests.get(name) ?? ''}` }
}
