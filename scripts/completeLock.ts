import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'

/*
 * Some registries carry the binaries of one platform only. npm then leaves the other platforms' optional packages out
 * of the lock file, and `npm ci` refuses the file that npm itself has written. This puts them back, by the version that
 * their parent names exactly, so that one lock file serves every platform. Run it after each change of the
 * dependencies.
 *
 * The entries that it adds have no integrity, because what cannot be fetched cannot be hashed; an `npm install` where
 * they can be fetched fills it in.
 */

const entry = z.looseObject({
  dev: z.boolean().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
})
const lockFile = z.looseObject({ packages: z.record(z.string(), entry) })

const path = new URL('../package-lock.json', import.meta.url)
const systems = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openharmony']
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x']

const lock = lockFile.parse(JSON.parse(await readFile(path, 'utf8')))
const missing = Object.values(lock.packages).flatMap(({ dev, optionalDependencies = {} }) =>
  Object.entries(optionalDependencies)
    .filter(([name, version]) => !(`node_modules/${name}` in lock.packages) && /^\d/.test(version))
    .map(([name, version]) => ({ name, version, dev })),
)
for (const { name, version, dev } of missing) {
  lock.packages[`node_modules/${name}`] = {
    version,
    optional: true,
    ...(dev === true ? { dev } : {}),
    ...platformOf(name),
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([one], [other]) => (one < other ? -1 : 1)))
await writeFile(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${missing.length} optional packages added to the lock file\n`)

/** These packages all say in their names what they are for. */
function platformOf(name: string): { os?: string[]; cpu?: string[]; libc?: string[] } {
  const words = name.split(/[-/]/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : []
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}), ...(libc.length > 0 ? { libc } : {}) }
}
