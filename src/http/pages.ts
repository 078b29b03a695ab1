import { readFile } from 'node:fs/promises'
import type { FreeAnswer, FreeRoute } from './freeRoutes.ts'
import { pageHeaders } from './docsPage.ts'
import { errorAnswer } from './transportError.ts'

/** The page of the finance reports. It contains no data: it fetches the reports with the reader's token. */
export function createFinancePage(): Promise<readonly FreeRoute[]> {
  return createPage('finance', [
    ...shared,
    'api.js',
    'words.js',
    'tables.js',
    'reports.js',
    'paymentDialog.js',
    'finance.js',
  ])
}

/** The public page: burned tokens, and how to check them. */
export function createBurnPage(): Promise<readonly FreeRoute[]> {
  return createPage('burn', [...shared, 'burn.js'])
}

const shared = ['style.css', 'language.js', 'amounts.js', 'dayRange.js', 'charts.js']
const packaged: Readonly<Record<string, string>> = {
  'uPlot.js': import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
  'uPlot.css': import.meta.resolve('uplot/dist/uPlot.min.css'),
}

/** A page at `/<name>` and its files below it, all of them read once, at the start. */
async function createPage(name: string, files: readonly string[]): Promise<readonly FreeRoute[]> {
  const html = await readFile(urlOf(`${name}.html`), 'utf8')
  const urls = [...files.map((file): [string, URL] => [file, urlOf(file)]), ...packagedUrls()]
  const bodies = await Promise.all(
    urls.map(async ([file, url]): Promise<[string, Buffer]> => [file, await readFile(url)]),
  )
  const found = new Map(bodies)
  const serveFile = (file: string): FreeAnswer => {
    const body = found.get(file)
    if (body === undefined) return errorAnswer('NOT_FOUND', 'there is no such file')
    const contentType = file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8'
    return { status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-cache' }, body }
  }
  return [
    { path: `/${name}`, serve: () => Promise.resolve({ status: 200, headers: pageHeaders, body: html }) },
    { path: `/${name}/:file`, serve: ({ segment }) => Promise.resolve(serveFile(segment)) },
  ]
}

function urlOf(file: string): URL {
  return new URL(`pages/${file}`, import.meta.url)
}

function packagedUrls(): readonly [string, URL][] {
  return Object.entries(packaged).map(([name, url]) => [name, new URL(url)])
}
