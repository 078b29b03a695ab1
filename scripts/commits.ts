import { execFileSync } from 'node:child_process'

/* The newest commits: subjects of at most 72 characters, and most have a body that says why. Merges are left out. */

const newest = 100
const subjectLengthMax = 72
const withBodyShareMin = 0.6

const log = execFileSync('git', ['log', '--no-merges', `-${newest}`, '--format=%h%x00%s%x00%b%x01'], {
  encoding: 'utf8',
})
const commits = log.split('\u0001').flatMap((entry) => {
  const [hash = '', subject = '', body = ''] = entry.trim().split('\0')
  return hash === '' ? [] : [{ hash, subject, body }]
})
const findings = commits.flatMap(({ hash, subject }) =>
  subject.length > subjectLengthMax ? [`${hash}: the subject has ${subject.length} characters of 72`] : [],
)
const bare = commits.filter(({ body }) => body.trim() === '')
if (commits.length - bare.length < withBodyShareMin * commits.length)
  findings.push(`${bare.map(({ hash }) => hash).join(', ')}: no body says why`)
for (const finding of findings) process.stdout.write(`${finding}\n`)
process.stdout.write(`commits: ${findings.length} findings in the newest ${commits.length}\n`)
process.exitCode = findings.length === 0 ? 0 : 1
