import { readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'

const group = z.record(z.string(), z.string()).optional()
const manifest = z.object({ dependencies: group, devDependencies: group, optionalDependencies: group })

test('CONTRIBUTING.md gives a reason for each dependency, and names none that is not one', async () => {
  const page = await readFile('CONTRIBUTING.md', 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  const listed = rows
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(@?[a-z0-9][a-z0-9/*._-]*)`/g)])
    .map(([, name]) => name)
  const files = ['package.json', ...globSync('packages/*/package.json')]
  const manifests = await Promise.all(
    files.map(async (file) => manifest.parse(JSON.parse(await readFile(file, 'utf8')))),
  )
  const dependencies = new Set(manifests.flatMap((one) => Object.values(one).flatMap((of) => Object.keys(of ?? {}))))
  const foreign = [...dependencies].filter((name) => !name.startsWith('@tollbook/'))
  const hasReason = (name: string) => listed.includes(name) || listed.includes(`${name.split('/')[0]}/*`)
  expect(foreign.filter((name) => !hasReason(name))).toEqual([])
  const isPackage = (name: string) => name.endsWith('/*') || dependencies.has(name)
  const start = rows.findIndex((row) => row.startsWith('| package'))
  expect(start).toBeGreaterThan(-1)
  const table = rows.slice(start + 1).join('\n')
  expect(listed.filter((name) => name !== undefined && table.includes(`\`${name}\``) && !isPackage(name))).toEqual([])
})

const published = z.object({
  publishConfig: z.object({}).optional(),
  scripts: z.object({ prepack: z.string() }).optional(),
})

test('a package that is published cannot be packed without its built files', async () => {
  const unguarded: string[] = []
  for (const file of globSync('packages/*/package.json')) {
    const { publishConfig, scripts } = published.parse(JSON.parse(await readFile(file, 'utf8')))
    if (publishConfig !== undefined && scripts?.prepack.startsWith('test -d dist || ') !== true) unguarded.push(file)
  }
  expect(unguarded).toEqual([])
})
