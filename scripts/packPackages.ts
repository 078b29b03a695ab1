import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { buildService, nameCompiledPrograms } from './packService.ts'

/*
 * Packs the publishable workspaces, and the service as till and goods: `npm run pack [-- --dry-run]`.
 * In the repository a package exports its TypeScript. A published package exports JavaScript and types, so each package
 * is copied to .packed/, built there against the built copies of the packages it needs, and packed with its
 * publishConfig merged into its package.json. `provenance.json` states the commit and the digest of each archive, and
 * `sbom.cdx.json` what the service runs on (CycloneDX).
 */

const manifestShape = z.looseObject({
  name: z.string(),
  version: z.string(),
  dependencies: z.record(z.string(), z.string()).optional(),
  publishConfig: z.looseObject({}).optional(),
})
type Manifest = z.infer<typeof manifestShape>

const staging = '.packed'
const scope = '@tollbook/'

function readManifest(folder: string): Manifest {
  return manifestShape.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
}

/** A package after every package that it depends on. */
function inBuildOrder(names: readonly string[]): readonly string[] {
  const ordered: string[] = []
  const visit = (name: string): void => {
    if (ordered.includes(name)) return
    for (const dependency of Object.keys(readManifest(`packages/${name}`).dependencies ?? {}))
      if (dependency.startsWith(scope)) visit(dependency.slice(scope.length))
    ordered.push(name)
  }
  names.forEach(visit)
  return ordered
}

function build(name: string): string {
  const folder = join(staging, 'node_modules', scope, name)
  mkdirSync(folder, { recursive: true })
  cpSync(`packages/${name}`, folder, { recursive: true, filter: (path) => !path.includes('node_modules') })
  const { publishConfig, ...manifest } = readManifest(folder)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(buildOptions))
  execFileSync('node', ['node_modules/typescript-native/bin/tsc', '-p', folder], { stdio: 'inherit' })
  nameCompiledPrograms(join(folder, 'dist'))
  for (const left of ['src', 'tsconfig.json']) rmSync(join(folder, left), { recursive: true })
  cpSync('LICENSE', join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`)
  return folder
}

const buildOptions = {
  extends: '../../../../tsconfig.json',
  compilerOptions: {
    noEmit: false,
    // A build does not start from the state of the type check.
    incremental: false,
    tsBuildInfoFile: null,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    rootDir: 'src',
    outDir: 'dist',
    declaration: true,
    sourceMap: false,
  },
  include: ['src'],
}

const words = process.argv.slice(2)
const unknown = words.filter((word) => word !== '--dry-run')
if (unknown.length > 0) {
  process.stderr.write(`npm run pack knows --dry-run only (got ${unknown.join(' ')})\n`)
  process.exit(2)
}
const dryRun = words.includes('--dry-run')
rmSync(staging, { recursive: true, force: true })
mkdirSync(staging, { recursive: true })
const publishable = readdirSync('packages').filter(
  (name) => existsSync(`packages/${name}/package.json`) && readManifest(`packages/${name}`).publishConfig !== undefined,
)
const version = readManifest('.').version
const built = inBuildOrder(publishable).map(build)
for (const folder of [...built, ...buildService(join(staging, 'node_modules'))])
  execFileSync('npm', ['pack', `./${folder}`, '--pack-destination', staging, ...(dryRun ? ['--dry-run'] : [])], {
    stdio: 'inherit',
  })
if (!dryRun) {
  writeFileSync(join(staging, 'provenance.json'), `${JSON.stringify(provenance(), null, 2)}\n`)
  writeFileSync(
    join(staging, 'sbom.cdx.json'),
    printed('npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--omit', 'dev'),
  )
}

function provenance(): object {
  const archives = readdirSync(staging).filter((file) => file.endsWith('.tgz'))
  return {
    version,
    commit: printed('git', 'rev-parse', 'HEAD').trim(),
    isClean: printed('git', 'status', '--porcelain') === '',
    node: process.version,
    archives: archives.map((file) => ({ file, sha256: sha256Of(readFileSync(join(staging, file))) })),
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function printed(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}
