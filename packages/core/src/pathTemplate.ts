const segment = /\{([^{}/]*)\}/g

export function segmentNames(path: string): readonly string[] {
  return [...path.matchAll(segment)].map(([, name = '']) => name)
}

/** Percent-encodes the values. A segment without a value stays unchanged. */
export function fillTemplate(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(segment, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return whole
    // Encode the apostrophe too, so that examples can quote the path.
    return encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", '%27')
  })
}

/**
 * Returns the base path in front of the template, such as `/gateway`. Undefined if the requested path does not end with
 * the template, or has an empty value for a segment.
 */
export function basePathOf(requested: string, template: string): string | undefined {
  const [asked, wanted] = [requested.split('/'), template.split('/')]
  const base = asked.length - wanted.length
  const isWanted = (part: string, at: number) => {
    const value = asked[base + at] ?? ''
    return at === 0 || value === part || (value !== '' && segmentNames(part).length > 0)
  }
  return base >= 0 && template.startsWith('/') && wanted.every(isWanted)
    ? asked.slice(0, base + 1).join('/')
    : undefined
}
