import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/*
 * Bundles the modules of each page with their imports, and prints the scripts as JSON. This is a separate program,
 * because the bundler does not release 140 MB of memory.
 */

const scripts = Object.fromEntries(
  await Promise.all(process.argv.slice(2).map(async (page) => [page, await bundle(page)] as const)),
)
process.stdout.write(JSON.stringify(scripts))

async function bundle(page: string): Promise<string> {
  const input = fileURLToPath(new URL(`browser/${page}.ts`, import.meta.url))
  // Do not read tsconfig.json: a container image does not contain it, and the pages do not need it.
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent', tsconfig: false })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false, minify: true })
  await build.close()
  return output[0].code
}
