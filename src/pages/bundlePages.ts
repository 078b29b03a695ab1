import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/* A separate program, because the bundler does not release its memory. Prints the scripts of the pages as JSON. */

const scripts = Object.fromEntries(
  await Promise.all(process.argv.slice(2).map(async (page) => [page, await bundle(page)] as const)),
)
process.stdout.write(JSON.stringify(scripts))

async function bundle(page: string): Promise<string> {
  const input = fileURLToPath(new URL(`browser/${page}.ts`, import.meta.url))
  // Do not read tsconfig.json, because a container image does not contain it.
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent', tsconfig: false })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false, minify: true })
  await build.close()
  return output[0].code
}
