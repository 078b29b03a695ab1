export type ParsedList<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] }

export interface SettingEntry {
  readonly text: string
  readonly name: string
  readonly value: string | undefined
}

export function parseEntries(setting: string, separator: '=' | ':'): readonly SettingEntry[] {
  return setting.split(',').map((entry) => {
    const text = entry.trim()
    const at = text.indexOf(separator)
    if (at === -1) return { text, name: text, value: undefined }
    return { text, name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() }
  })
}

export function repeatedNames(entries: readonly SettingEntry[]): readonly string[] {
  const names = entries.map(({ name }) => name)
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
}

export function parsedUnless<T>(problems: readonly string[], value: T): ParsedList<T> {
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}
