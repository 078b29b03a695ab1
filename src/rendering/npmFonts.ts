import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'

/*
 * Fonts for the browser of npm, which contains only one sans-serif font. All licenses allow sale in a larger package.
 * The emoji are monochrome, because colored ones are much larger.
 */

interface FontPackage {
  readonly name: string
  /** Paths within the package, which also contains other weights. */
  readonly files: readonly string[]
}

const fontPackages: readonly FontPackage[] = [
  {
    name: 'dejavu-fonts-ttf',
    files: ['DejaVuSans', 'DejaVuSansMono', 'DejaVuSerif'].flatMap((family) => [
      `ttf/${family}.ttf`,
      `ttf/${family}-Bold.ttf`,
      `ttf/${family}-${family === 'DejaVuSerif' ? 'Italic' : 'Oblique'}.ttf`,
      `ttf/${family}-Bold${family === 'DejaVuSerif' ? 'Italic' : 'Oblique'}.ttf`,
    ]),
  },
  {
    name: '@expo-google-fonts/noto-sans-devanagari',
    files: ['400Regular/NotoSansDevanagari_400Regular.ttf', '700Bold/NotoSansDevanagari_700Bold.ttf'],
  },
  { name: '@expo-google-fonts/noto-emoji', files: ['400Regular/NotoEmoji_400Regular.ttf'] },
  { name: '@embedpdf/fonts-sc', files: ['fonts/NotoSansHans-Regular.otf', 'fonts/NotoSansHans-Bold.otf'] },
  { name: '@embedpdf/fonts-kr', files: ['fonts/NotoSansKR-Regular.otf', 'fonts/NotoSansKR-Bold.otf'] },
]

const packageJson = z.object({ version: z.string() })
const require = createRequire(import.meta.url)
const readableByAll = 0o755

/**
 * Returns the folder of a package. Searches the folders itself, because `require.resolve` fails for packages that do
 * not export package.json.
 */
function folderOf(name: string): string {
  const found = (require.resolve.paths(name) ?? [])
    .map((folder) => join(folder, name))
    .find((folder) => existsSync(join(folder, 'package.json')))
  return assertPresent(found, `the package ${name} is installed`)
}

// Increase this number when you change the configuration.
const configurationVersion = 2

/** Returns the version of the fonts. If it changes, the browser is unpacked again. */
export async function fontsVersion(): Promise<string> {
  const texts = await Promise.all(
    fontPackages.map(({ name }) => readFile(join(folderOf(name), 'package.json'), 'utf8')),
  )
  return [...texts.map((text) => packageJson.parse(JSON.parse(text)).version), configurationVersion].join('-')
}

/** Copies the fonts, because the browser runs as another user, who may not be able to read the npm packages. */
export async function installFonts(directory: string, finalDirectory: string): Promise<void> {
  const target = join(directory, 'fonts', 'npm')
  await mkdir(target, { recursive: true })
  const files = fontPackages.flatMap(({ name, files: some }) => some.map((file) => join(folderOf(name), file)))
  await Promise.all(files.map((file) => copyFile(file, join(target, basename(file)))))
  for (const folder of [join(directory, 'fonts'), target]) await chmod(folder, readableByAll)
  await writeFile(join(directory, 'fonts.conf'), configurationOf(finalDirectory))
}

const openSans = 'Open Sans'
const serif = 'DejaVu Serif'
const monospace = 'DejaVu Sans Mono'

/** In order of preference: the first installed font is used. Fonts of the system come first. */
const generic: readonly (readonly [asked: string, given: readonly string[]])[] = [
  ['sans-serif', ['Liberation Sans', openSans, 'DejaVu Sans']],
  ['serif', ['Liberation Serif', serif]],
  ['monospace', ['Liberation Mono', monospace]],
]

/** The browser accepts a substitute only if a rule replaces the requested family. */
const replaced: readonly (readonly [asked: string, given: string])[] = [
  ['Arial', openSans],
  ['Helvetica', openSans],
  ['Verdana', 'DejaVu Sans'],
  ['Times New Roman', serif],
  ['Times', serif],
  ['Georgia', serif],
  ['Courier New', monospace],
  ['Courier', monospace],
]

/**
 * Returns the font configuration. A new file is written, because the file in the package lists folders that do not
 * exist on this machine.
 */
function configurationOf(directory: string): string {
  const folders = [
    join(directory, 'fonts', 'fonts'),
    join(directory, 'fonts', 'npm'),
    '/usr/share/fonts',
    '/usr/local/share/fonts',
  ]
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((folder) => `  <dir>${folder}</dir>`).join('\n')}
  <cachedir prefix="xdg">fontconfig</cachedir>
${generic.map(([asked, given]) => aliasOf(asked, given)).join('\n')}
${replaced.map(([asked, given]) => replacementOf(asked, given)).join('\n')}
</fontconfig>
`
}

/**
 * Returns a rule with the substitutes of a family. With `same`, the substitute counts as the requested family. Without
 * it, the browser uses its default font.
 */
function aliasOf(asked: string, given: readonly string[]): string {
  const families = given.map((family) => `<family>${family}</family>`).join('')
  return `  <alias binding="same"><family>${asked}</family><accept>${families}</accept></alias>`
}

function replacementOf(asked: string, given: string): string {
  const rule = `<edit name="family" mode="assign" binding="same"><string>${given}</string></edit>`
  return `  <match target="pattern"><test name="family"><string>${asked}</string></test>${rule}</match>`
}
