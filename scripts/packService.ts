import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { z } from 'zod'

/*
 * Builds the service as two packages. `tollbook` is the till: it sells products of a file, and installs no package that
 * only built-in products need. `@tollbook/goods` has the built-in products. Both keep the folders of the repository.
 */

const manifestShape = z.looseObject({
  version: z.string(),
  description: z.string(),
  dependencies: z.record(z.string(), z.string()),
})

const goodsFolders = /^src\/(products|sourcing|rendering|start\/goods)\//
/** The packages have the scripts of the pages, and not their sources. */
const leftOut = /^src\/pages\/(browser\/|bundlePages\.ts$)/
/** Checks its purchases with packages of development, and is not a command where they are missing. */
const demo = /^src\/cli\/demo\//
const entry = 'start/goods/goods.js'

/** Builds both packages below `modules`, where the packages that they need are already built. Returns their folders. */
export function buildService(modules: string): readonly string[] {
  const [till, goods] = [join(modules, 'tollbook'), join(modules, '@tollbook/goods')]
  compile(till)
  for (const file of filesOf(till).filter((path) => path.startsWith('src/') && path.endsWith('.js')))
    writeFileSync(join(till, file), withPackageImports(file, readFileSync(join(till, file), 'utf8')))
  for (const file of filesOf(till).filter((path) => goodsFolders.test(path))) {
    mkdirSync(dirname(join(goods, file)), { recursive: true })
    renameSync(join(till, file), join(goods, file))
  }
  writeManifests(till, goods)
  for (const folder of [till, goods]) cpSync('LICENSE', join(folder, 'LICENSE'))
  return [till, goods]
}

function compile(folder: string): void {
  mkdirSync(folder, { recursive: true })
  cpSync('src', join(folder, 'src'), { recursive: true, filter: (path) => !leftOut.test(path) })
  cpSync('package.json', join(folder, 'package.json'))
  // The package has compiled JavaScript, so its entry has no version of Node to refuse TypeScript on.
  renameSync(join(folder, 'src/cli/tollbook.ts'), join(folder, 'src/cli/program.ts'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(buildOptions))
  execFileSync('node', ['node_modules/typescript-native/bin/tsc', '-p', folder], { stdio: 'inherit' })
  for (const file of filesOf(folder).filter((path) => path.startsWith('src/') && path.endsWith('.ts')))
    rmSync(join(folder, file))
  cpSync(join(folder, 'dist/src'), join(folder, 'src'), { recursive: true })
  nameCompiledPrograms(join(folder, 'src'))
  for (const left of ['dist', 'tsconfig.json']) rmSync(join(folder, left), { recursive: true })
  writeFileSync(join(folder, 'src/cli/tollbook.js'), "#!/usr/bin/env node\nawait import('./program.js')\n")
  cpSync('migrations', join(folder, 'migrations'), { recursive: true })
  const pages = ['home', 'pay', 'tab', 'burn', 'finance']
  writeFileSync(
    join(folder, 'src/pages/pageScripts.json'),
    execFileSync('node', ['src/pages/bundlePages.ts', ...pages]),
  )
}

const buildOptions = {
  extends: '../../../tsconfig.json',
  compilerOptions: {
    noEmit: false,
    // `npm run check` has checked the types.
    noCheck: true,
    target: 'esnext',
    incremental: false,
    tsBuildInfoFile: null,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    rootDir: '.',
    outDir: 'dist',
  },
  include: ['src'],
  exclude: [],
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1))
}

/** Names files of the other package by that package. */
function withPackageImports(file: string, text: string): string {
  let rewritten = ''
  let done = 0
  for (const { fileName, pos } of ts.preProcessFile(text, true, true).importedFiles) {
    // The position is that of the quotation mark.
    rewritten += text.slice(done, pos + 1) + packageImport(file, fileName)
    done = pos + 1 + fileName.length
  }
  return rewritten + text.slice(done)
}

/** Programs of threads and processes are named by URL, which the compiler leaves as it is. */
export function nameCompiledPrograms(folder: string): void {
  const program = /(new URL\((['"`])[^'"`]+)\.ts\2, import\.meta\.url\)/g
  for (const file of filesOf(folder).filter((path) => path.endsWith('.js'))) {
    const text = readFileSync(join(folder, file), 'utf8')
    writeFileSync(join(folder, file), text.replaceAll(program, '$1.js$2, import.meta.url)'))
  }
}

function packageImport(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  const target = posix.join(posix.dirname(file), specifier)
  if (goodsFolders.test(target) === goodsFolders.test(file)) return specifier
  return target === `src/${entry}` ? '@tollbook/goods' : `tollbook/${target}`
}

function writeManifests(till: string, goods: string): void {
  const { version, description, dependencies } = manifestShape.parse(JSON.parse(readFileSync('package.json', 'utf8')))
  const shared = { version, license: 'Apache-2.0', type: 'module', engines: { node: '>=24' } }
  const [tillNeeds, goodsNeeds] = [packagesOf(till), packagesOf(goods)]
  // Local mode needs an embedded Postgres and a local chain, which an operator with their own leaves out.
  const optional = [...tillNeeds].filter((name) => dependencies[name] === undefined)
  const others = optional.filter((name) => !name.startsWith('@tollbook/'))
  if (others.length > 0) throw new Error(`src imports packages that only development has: ${others.join(', ')}`)
  const peers = Object.fromEntries([...optional, '@tollbook/goods'].map((name) => [name, version]))
  write(till, {
    name: 'tollbook',
    description,
    ...shared,
    bin: { tollbook: 'src/cli/tollbook.js' },
    exports: { './src/*': './src/*', './package.json': './package.json' },
    files: ['src', 'migrations'],
    dependencies: versionsOf(tillNeeds, dependencies),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  })
  write(goods, {
    name: '@tollbook/goods',
    description: 'The built-in products of Tollbook: prices, weather, news, QR codes, captures of pages and chat',
    ...shared,
    exports: `./src/${entry}`,
    files: ['src'],
    dependencies: versionsOf(
      new Set([...goodsNeeds, ...findMentioned(goods, Object.keys(dependencies))]),
      dependencies,
    ),
    peerDependencies: { tollbook: version },
  })
}

function write(folder: string, manifest: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

function versionsOf(names: ReadonlySet<string>, versions: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    [...names].toSorted().flatMap((name) => (versions[name] === undefined ? [] : [[name, versions[name]]])),
  )
}

/** Packages that the modules of a folder import, or resolve by a literal name. */
function packagesOf(folder: string): ReadonlySet<string> {
  const names = filesOf(folder)
    .filter((path) => path.endsWith('.js') && !demo.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8')
      const resolved = [...text.matchAll(/\bresolve\('([^'.]+(?:\.[^']*)?)'\)/g)].map(([, name = '']) => name)
      return [...ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName), ...resolved]
    })
    .filter((name) => !/^(\.|node:|tollbook\/|#)/.test(name) && name !== '@tollbook/goods')
  return new Set(names.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name))
}

/** Packages that are found by their names at run time: the browser and its fonts. */
function findMentioned(folder: string, names: readonly string[]): readonly string[] {
  const code = filesOf(folder)
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
  return names.filter((name) => name !== 'node' && code.some((text) => text.includes(`'${name}'`)))
}
