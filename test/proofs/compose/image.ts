import { assertRan, type Stack } from './stack.ts'

export interface ImageReport {
  readonly problems: readonly string[]
  /** Sizes, for people. */
  readonly lines: readonly string[]
}

const images = ['tollbook:local', 'tollbook-localnet:local', 'tollbook-operations:local']
/** Programs and packages that a production image does not need. */
const script = `
  find / -xdev -type f -perm /6000 2>/dev/null | sed 's/^/setuid: /'
  ls -d /app/node_modules/typescript /app/node_modules/vitest /app/node_modules/.bin 2>/dev/null
  find /app -name '*.test.*' -o -name '*.map' | head -3
  for name in npm npx yarn tsc; do command -v $name; done
  true`

export async function findImageProblems({ docker }: Stack): Promise<ImageReport> {
  const [problems, lines]: string[][] = [[], []]
  for (const image of images) {
    const bytes = Number(assertRan(await docker('image', 'inspect', '--format', '{{.Size}}', image)))
    lines?.push(`${image}: ${Math.round(bytes / 1_000_000)} MB`)
    const run = ['run', '--rm', '--network', 'none', '--entrypoint', 'sh', image, '-c', script]
    const found = assertRan(await docker(...run)).trim()
    const help = await docker('run', '--rm', '--network', 'none', '--entrypoint', 'tollbook', image, '--help')
    if (help.exitCode !== 0) problems?.push(`tollbook --help in ${image} fails: ${help.output.slice(0, 500)}`)
    if (found !== '') problems?.push(`${image} has ${found.replaceAll('\n', ', ')}`)
  }
  const local = ['run', '--rm', '--network', 'none', '--entrypoint', 'ls', 'tollbook:local', '/app/node_modules']
  if (/^(litesvm|vitest)$/m.test(assertRan(await docker(...local)))) problems?.push('tollbook:local has a local chain')
  return { problems: problems ?? [], lines: lines ?? [] }
}
