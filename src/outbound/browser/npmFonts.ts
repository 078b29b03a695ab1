import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/*
 * Fonts for the browser of npm, which brings one sans-serif font. DejaVu has serif and monospace faces, Latin, Greek,
 * Cyrillic, Arabic, Hebrew and symbols in 12 MB, and may be sold as part of a larger package.
 */

const packageJson = z.object({ version: z.string() })
const packageFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')
const readableByAll = 0o755

export async function fontsVersion(): Promise<string> {
  return packageJson.parse(JSON.parse(await readFile(packageFile, 'utf8'))).version
}

/** Copies them to the directory of the browser, which runs as another user and may not be able to read our modules. */
export async function installFonts(directory: string, finalDirectory: string): Promise<void> {
  const source = join(dirname(packageFile), 'ttf')
  const target = join(directory, 'fonts', 'dejavu')
  await mkdir(target, { recursive: true })
  await Promise.all((await readdir(source)).map((name) => copyFile(join(source, name), join(target, name))))
  for (const folder of [join(directory, 'fonts'), target]) await chmod(folder, readableByAll)
  await writeFile(join(directory, 'fonts.conf'), configurationOf(finalDirectory))
}

const openSans = 'Open Sans'
const serif = 'DejaVu Serif'
const monospace = 'DejaVu Sans Mono'

/** Families that pages name, and their substitutes: fonts of the system that are made for it come first. */
const aliases: readonly (readonly [asked: string, given: readonly string[]])[] = [
  ['sans-serif', ['Liberation Sans', openSans, 'DejaVu Sans']],
  ['serif', ['Liberation Serif', serif]],
  ['monospace', ['Liberation Mono', monospace]],
  ['Arial', ['Liberation Sans', openSans]],
  ['Helvetica', ['Liberation Sans', openSans]],
  ['Verdana', ['DejaVu Sans']],
  ['Times New Roman', ['Liberation Serif', serif]],
  ['Times', ['Liberation Serif', serif]],
  ['Georgia', [serif]],
  ['Courier New', ['Liberation Mono', monospace]],
  ['Courier', ['Liberation Mono', monospace]],
]

/** The file that comes with the package names folders of its own world. */
function configurationOf(directory: string): string {
  const folders = [
    join(directory, 'fonts', 'fonts'),
    join(directory, 'fonts', 'dejavu'),
    '/usr/share/fonts',
    '/usr/local/share/fonts',
  ]
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((folder) => `  <dir>${folder}</dir>`).join('\n')}
  <cachedir prefix="xdg">fontconfig</cachedir>
${aliases.map(([asked, given]) => aliasOf(asked, given)).join('\n')}
</fontconfig>
`
}

/** `same`: as good as the family that was asked for. Otherwise the browser takes its own last resort. */
function aliasOf(asked: string, given: readonly string[]): string {
  const families = given.map((family) => `<family>${family}</family>`).join('')
  return `  <alias binding="same"><family>${asked}</family><accept>${families}</accept></alias>`
}
