/*
 * The patterns of our English rules as data: the words of a private dialect, and the advice for each.
 * A pattern is here when a native reader stumbles over it and a regular expression finds it with few false alarms.
 */

export interface ProsePattern {
  readonly name: string
  readonly pattern: RegExp
  readonly advice: string
}

/** Patterns that match only at the start of a sentence. A sentence that ends in a question mark is left alone. */
export const openingPatterns: readonly ProsePattern[] = [
  {
    name: 'headless What',
    pattern: /^(?:What|Whatever|Whichever)\s(?!if\b)/,
    advice: 'start with a noun: "Data that …", "Result of …", "Differences between …"',
  },
  {
    name: 'headless Who',
    pattern: /^(?:Who|Whom|Whose|Whoever)\s/,
    advice: 'name the actor: "A caller who …", "The holder of …"',
  },
  {
    name: 'headless Where',
    pattern: /^(?:Where|Wherever|Whence|Whither)\s/,
    advice: 'start with a noun, or with "If" for a condition: "Path of …", "If no proxy is configured, …"',
  },
  {
    name: 'headless How',
    pattern: /^(?:How|For how|By how|After how)\s(?:far|long|many|much|often|old|late|big|soon|a|an|the|it|we)\b/,
    advice: 'start with a noun: "Number of …", "Maximum age of …", "Interval between …"',
  },
  {
    name: 'inverted opening',
    pattern: /^(?:Of|From|By|In|To|On|With|For|Without|Against|After|Before|Not)\s(?:what|whom|whoever|whose)\b/,
    advice: 'put the subject first',
  },
  {
    name: 'inverted opening',
    pattern: /^Of (?:several|these|those|two|all|each|one|the many)\b[^.]*,/,
    advice: 'put the subject first: "Only the last of several changes counts."',
  },
  {
    name: 'headless Of',
    pattern: /^Of (?:the|a|an|its|this|any|every|everything|another)\b[^,]*$/,
    advice: 'start with the noun that the line below has: "Slot of the newest payment", "Digest of the body"',
  },
  { name: 'Says', pattern: /^Says\b/, advice: 'name the actor and the act: "Reports …", "Returns …", "Logs …"' },
  { name: 'Told', pattern: /^Told\b/, advice: 'write "Called with …", "Receives …", "Notified of …"' },
]

/** Patterns that match anywhere in prose. */
export const wordPatterns: readonly ProsePattern[] = [
  {
    name: 'book',
    pattern: /(?<!\b(?:order|limit|cheque|note|run) )\bbooks?\b(?!ing|-entry)/i,
    advice: 'write "ledger"',
  },
  { name: 'booked', pattern: /\b(?:un)?booked\b/i, advice: 'write "recorded" or "posted"' },
  {
    name: 'life',
    pattern: /(?<!\b(?:real|half|shelf|end of)[ -])\blife\b/i,
    advice: 'write "lifecycle" for states, "lifetime" for a duration',
  },
  {
    name: 'look',
    pattern: /\b(?:an?|the|each|every|one|its|next|last|first|another|this|that|second) looks?\b(?! like)/i,
    advice: 'write "lookup", "query" or "check"',
  },
  { name: 'look-up', pattern: /\blook-ups?\b/i, advice: 'write "lookup"' },
  { name: 'shelf', pattern: /\bshel(?:f|ves)\b/i, advice: 'write "storage"' },
  { name: 'door', pattern: /\bdoors?\b/i, advice: 'write "entry point", "server" or "listener"' },
  { name: 'ground', pattern: /(?<!\bon the )\bground\b(?! truth)/i, advice: 'write "fixture"' },
  { name: 'desk', pattern: /\bdesks?\b/i, advice: 'write "request handler"' },
  { name: 'shop', pattern: /\bshops?\b/i, advice: 'write "service" or "paid routes"' },
  { name: 'room', pattern: /\b(?:which|what|one|each|every) rooms?\b/i, advice: 'write "folder" or "module"' },
  {
    name: 'watch',
    pattern: /\b(?:an?|the|each|every|this|that|one|no|its|market|ledger|price) watch(?:es)?\b(?! (?:for|the|mode))/i,
    advice: 'write "background worker", "monitor" or "job"',
  },
  { name: 'mend', pattern: /\bmend(?:s|ed|ing)?\b/i, advice: 'write "fix" or "repair"' },
  {
    name: 'told',
    pattern: /\b(?:un)?told\b(?! (?:to|apart|the difference)\b)/i,
    advice: 'write "sent", "reported", "notified" or "configured"',
  },
  {
    name: 'tells',
    pattern: /\btells? (?:nothing|nobody|less|more|of|none|no|so|it|what|that)\b/i,
    advice: 'write "reports", "states" or "shows"',
  },
  { name: 'beside', pattern: /\bbeside\b/i, advice: 'write "next to", "in addition to" or "with"' },
  { name: 'for ever', pattern: /\bfor ever\b/i, advice: 'write "permanently", "forever" or "without limit"' },
  {
    name: 'come back',
    pattern: /\b(?:come|comes|came|coming) back\b(?! (?:up|online|empty)\b)/i,
    advice: 'write "retry", "return" or "reconnect"',
  },
  {
    name: 'say no',
    pattern:
      /\b(?:say|says|said|saying|answer|answers|answered) (?:no|yes)\b(?=\s*$|[.,;:)]|\s(?:to|and|or|but|under|in)\b)/i,
    advice: 'write "reject", "refuse" or "accept"',
  },
  {
    name: 'says otherwise',
    pattern: /\bsa(?:y|ys|id) (?:otherwise|nothing|differently)\b/i,
    advice: 'name what differs or what is stated',
  },
  { name: 'so long', pattern: /\bso long\b/i, advice: 'write "while", "as long as" or "until"' },
  {
    name: 'goes through',
    pattern: /\b(?:go|goes|went|going|gone) through\b/i,
    advice: 'write "succeeds", "passes" or "is accepted"',
  },
  { name: 'whoever', pattern: /\bwho(?:m)?ever\b/i, advice: 'name the actor: "a caller that …"' },
  {
    name: 'nobody',
    pattern: /\b(?:nobody|somebody|everybody|anybody)(?:'s)?\b/i,
    advice: 'name the caller, process or instance; "no caller", "everyone" only for people',
  },
  {
    name: 'is no',
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were|be|been) no (?!longer\b|more than\b|matter\b|less than\b|later than\b|older than\b|worse\b|better\b|good\b)(?=[a-z])/i,
    advice: 'write "is not a"',
  },
  {
    name: 'gives',
    pattern: /\bgives? (?:nothing|back|undefined|null|none|the same)\b/i,
    advice: 'write "returns"',
  },
  { name: 'but for', pattern: /\bbut for\b/i, advice: 'write "except for"' },
  { name: 'otherwise than', pattern: /\botherwise than\b/i, advice: 'write "differently from"' },
  { name: 'in vain', pattern: /\bin vain\b/i, advice: 'write "without success"' },
  {
    name: 'litotes',
    pattern:
      /\bnot (?:un(?!til\b|der|ique|less\b|it)[a-z]+|without\b|seldom\b|a few\b|in(?:frequent|correct|valid)\b|impossible\b)/i,
    advice: 'state it positively',
  },
  {
    name: 'litotes',
    pattern: /\bnothing (?:else than|other than)\b|\bnone but\b|\bno other than\b/i,
    advice: 'write "only"',
  },
  {
    name: 'voice',
    pattern: /\b(?:ha(?:s|ve|d)|no|a|one) voices?\b/i,
    advice: 'write "vote", "is counted" or "is ignored"',
  },
  {
    name: 'the way of',
    pattern: /\b(?:the|whole) way of\b/i,
    advice: 'name the thing: "the flow of a request", "the path of …"',
  },
  { name: 'wish', pattern: /\bwish(?:es|ed)?\b/i, advice: 'write "request", "option" or "preference"' },
  { name: 'reckon', pattern: /\breckon(?:s|ed|ing)?\b/i, advice: 'write "compute" or "calculate"' },
  { name: 'spoil', pattern: /\bspoil(?:s|ed|t|ing)?\b/i, advice: 'write "corrupt", "damage" or "tamper with"' },
  {
    name: 'homely verb',
    pattern: /\b(?:lives? (?:it |its )?again|relives?|puts? away|has put away)\b/i,
    advice: 'write "replays" or "prunes"',
  },
  { name: 'under way', pattern: /\bunder way\b/i, advice: 'write "in progress" or "pending"' },
  {
    name: 'of its own',
    pattern:
      /\bof (?:its|their|our|his|my|your) own\b(?=\s*$|[.,;:)]|\s(?:and|or|in|on|at|by|to|for|with|that|which|was|is|are|as|when|before|after|so|during|over|while|until)\b)/i,
    advice: 'write "its own …", "separate" or "independent"',
  },
  {
    name: 'stands',
    pattern: /\b(?:stands?|stood) (?:in|beside|behind|there|on|between|above|below|under)\b(?! for\b)(?! the way\b)/i,
    advice: 'write "is in", "is stored in" or "follows"',
  },
  {
    name: 'as it stands',
    pattern: /\bas (?:it|they) stands?\b/i,
    advice: 'write "unchanged" or "in its current state"',
  },
  { name: 'so many', pattern: /\bso many\b/i, advice: 'write "number of …" or "this many"' },
  { name: 'all the same', pattern: /\ball the same\b/i, advice: 'write "still" or "nevertheless"' },
  { name: 'in the place of', pattern: /\bin the place of\b/i, advice: 'write "instead of"' },
  {
    name: 'good',
    pattern: /\b(?:still|stays?|stayed|remains?) good\b/i,
    advice: 'write "still valid" or "stays valid"',
  },
  { name: 'heal', pattern: /\bheal(?:s|ed|ing)?\b/i, advice: 'write "resolve", "recover" or "fix"' },
  { name: 'dear', pattern: /\bdear(?:er|est)?\b/i, advice: 'write "expensive"' },
  { name: 'anew', pattern: /\banew\b/i, advice: 'write "again" or "from scratch"' },
  { name: 'anyhow', pattern: /\banyhow\b/i, advice: 'write "in any case" or name the reason' },
  { name: 'at hand', pattern: /\bat hand\b/i, advice: 'write "available" or "cached"' },
  { name: 'for want of', pattern: /\bfor want of\b/i, advice: 'write "for lack of"' },
]

/** Words of the dialect that may not be a word of an identifier or of a file's name. */
export const nameWords: ReadonlyMap<string, string> = new Map([
  ['book', 'ledger'],
  ['desk', 'handler'],
  ['door', 'server, listener or entry'],
  ['ground', 'fixture or environment'],
  ['kept', 'stored, retained or cached'],
  ['lab', 'fixture'],
  ['life', 'lifecycle or lifetime'],
  ['made', 'created or built'],
  ['mend', 'fix'],
  ['mended', 'fixed'],
  ['named', 'a noun for the value'],
  ['reckon', 'compute'],
  ['shelf', 'storage'],
  ['shop', 'service'],
  ['strange', 'unknown or unexpected'],
  ['told', 'sent, reported or notified'],
  ['whoever', 'the actor'],
  ['wish', 'request or options'],
  ['wished', 'requested'],
])
