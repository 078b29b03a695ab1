import { readFile } from 'node:fs/promises'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { pageHeaders } from './pageHeaders.ts'
import { publicAnswer, revalidated } from '../transport/publicAnswer.ts'
import { createStaticFile, serveStaticFile, type StaticFile } from '../transport/staticFile.ts'

/** The page of the finance reports. It contains no data: it fetches the reports with the reader's token. */
export function createFinancePage(): Promise<readonly FreeRoute[]> {
  return createPage('finance', [
    ...shared,
    'api.js',
    'words.js',
    'tables.js',
    'reports.js',
    'address.js',
    'explanation.js',
    'paymentDialog.js',
    'closing.js',
    'closingTables.js',
    'decisions.js',
    'finance.js',
  ])
}

/** The public page: burned tokens, and how to check them. */
export function createBurnPage(): Promise<readonly FreeRoute[]> {
  return createPage('burn', [...shared, 'burn.js'])
}

/** The files of the page at `/`, which is rendered by `documentRoutes.ts`. */
export async function createHomePageFiles(): Promise<FreeRoute> {
  return filesRoute('home', await readPageFiles(['style.css', 'home.css', 'home.js', 'amounts.js']))
}

const shared = ['style.css', 'language.js', 'amounts.js', 'dayRange.js', 'charts.js']
const packaged: Readonly<Record<string, string>> = {
  'uPlot.js': import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
  'uPlot.css': import.meta.resolve('uplot/dist/uPlot.min.css'),
}

/** A page at `/<name>` and its files below it, all of them read once, at the start. */
async function createPage(name: string, files: readonly string[]): Promise<readonly FreeRoute[]> {
  const html = createStaticFile('text/html', await readFile(urlOf(`${name}.html`)))
  const found = await readPageFiles(files, packagedUrls())
  return [
    { path: `/${name}`, serve: async () => publicAnswer(await html.prepared(), pageHeaders) },
    filesRoute(name, found),
  ]
}

function filesRoute(name: string, files: ReadonlyMap<string, StaticFile>): FreeRoute {
  return { path: `/${name}/:file`, serve: ({ segment }) => serveStaticFile(files, segment, revalidated) }
}

/** Files of the folder `pages` by name, read once. */
export async function readPageFiles(files: readonly string[], more: readonly (readonly [string, URL])[] = []) {
  const urls = [...files.map((file) => [file, urlOf(file)] as const), ...more]
  const found = new Map<string, StaticFile>()
  for (const [file, url] of urls) found.set(file, createStaticFile(contentTypeOf(file), await readFile(url)))
  return found
}

function contentTypeOf(file: string): string {
  if (file.endsWith('.svg')) return 'image/svg+xml'
  return file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8'
}

function urlOf(file: string): URL {
  return new URL(`files/${file}`, import.meta.url)
}

function packagedUrls(): readonly [string, URL][] {
  return Object.entries(packaged).map(([name, url]) => [name, new URL(url)])
}
