import { Option } from 'commander'

/** Creates an option that may be given more than once. `standard` is the text of the default in the help. */
export function repeatedOption(flags: string, description: string, standard = 'none'): Option {
  return new Option(flags, description).argParser(collect).default([], standard)
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
