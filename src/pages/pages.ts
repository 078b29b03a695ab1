import { readFile } from 'node:fs/promises'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { publicAnswer, revalidated } from '../transport/publicAnswer.ts'
import { createStaticFile, serveStaticFile, type StaticFile } from '../transport/staticFile.ts'
import { pageHeaders } from './pageHeaders.ts'
import { type PageName, readPageScripts } from './pageScripts.ts'

const uPlotCss = ['uPlot.css', new URL(import.meta.resolve('uplot/dist/uPlot.min.css'))] as const

/**
 * Creates the page of the finance reports, under the seller's name in HTML. The page contains no data: it fetches the
 * reports with the reader's token.
 */
export function createFinancePage(sellerMarkup: string): Promise<readonly FreeRoute[]> {
  return createPage('finance', sellerMarkup, '')
}

/**
 * Creates the public page about burned tokens and how to check them. The seller's name and the note on dollars are
 * HTML.
 */
export function createBurnPage(sellerMarkup: string, dollarsMarkup = ''): Promise<readonly FreeRoute[]> {
  return createPage('burn', sellerMarkup, dollarsMarkup)
}

/** Returns the files of the page at `/`, which `documentRoutes.ts` renders. */
export async function createHomePageFiles(): Promise<FreeRoute> {
  return filesRoute('home', await readPageFiles(['style.css', 'home.css'], ['home']))
}

/** Returns the files of the page at `/docs`, which `documentRoutes.ts` renders. */
export async function createDocsPageFiles(): Promise<FreeRoute> {
  return filesRoute('docs', await readPageFiles(['style.css', 'docs.css', 'icon.svg']))
}

/** Creates a page at `/<name>` with its files below that path. */
async function createPage(
  name: 'finance' | 'burn',
  sellerMarkup: string,
  dollarsMarkup: string,
): Promise<readonly FreeRoute[]> {
  const page = await readFile(urlOf(`${name}.html`), 'utf8')
  const html = createStaticFile(
    'text/html',
    page.replaceAll('Tollbook', () => sellerMarkup).replace('<!-- dollars -->', () => dollarsMarkup),
  )
  const files = await readPageFiles(['style.css'], [name], [uPlotCss])
  return [
    { path: `/${name}`, serve: async () => publicAnswer(await html.prepared(), pageHeaders) },
    filesRoute(name, files),
  ]
}

function filesRoute(name: string, files: ReadonlyMap<string, StaticFile>): FreeRoute {
  return { path: `/${name}/:file`, serve: ({ segment }) => serveStaticFile(files, segment, revalidated) }
}

/** Reads the files of the folder `files` by name. Adds the pages' scripts as `<page>.js`, and other given files. */
export async function readPageFiles(
  names: readonly string[],
  pages: readonly PageName[] = [],
  more: readonly (readonly [name: string, url: URL])[] = [],
): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>()
  for (const [name, url] of [...names.map((name) => [name, urlOf(name)] as const), ...more])
    files.set(name, createStaticFile(contentTypeOf(name), await readFile(url)))
  for (const page of pages)
    files.set(
      `${page}.js`,
      createStaticFile(contentTypeOf('.js'), async () => (await readPageScripts())[page]),
    )
  return files
}

function contentTypeOf(name: string): string {
  if (name.endsWith('.svg')) return 'image/svg+xml'
  return name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8'
}

function urlOf(name: string): URL {
  return new URL(`files/${name}`, import.meta.url)
}
