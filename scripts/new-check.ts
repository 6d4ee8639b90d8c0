// Starts a check: its file, the list of its rules, and its entry wherever checks are listed. The generated code
// compiles, and passes every pull request until a developer implements the check. `npm run new-check ID "TITLE"` does
// not overwrite any file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { toCamelCase } from './rule-lists.ts'

/** A line to insert before the first match, or after the last one. */
interface LineInsertion {
  readonly file: string
  readonly before: string
  readonly text: string
}

/** The new files of a check, by path from the root. Throws a TypeError for an invalid ID or title. */
export function createCheckFiles(id: string, title: string): Map<string, string> {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id))
    throw new TypeError(`the check ID must be kebab-case, but is "${id}"`)
  if (!/^[A-Z][^\n'\\]*[^\n'\\.]$/.test(title))
    throw new TypeError(
      `the title must state what is true when the check passes, without quotation marks or a final period, but is "${title}"`,
    )
  const name = toCamelCase(id)
  return new Map([
    [
      `src/checks/${id}/${id}.ts`,
      `// The ${id} check. Describe what it checks, and what it does not check.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { applyConfiguredSeverities, type Check } from '../check.ts'

export const ${name}Check: Check<'${id}'> = {
  id: '${id}',
  ask: () => [],
  judge({ config }) {
    // Create findings with createFinding() from @catalog-bot/findings/rule.
    const found: readonly Finding[] = []
    return {
      check: '${id}',
      // The configuration can disable a rule or change its severity.
      findings: applyConfiguredSeverities(found, config).sort(compareFindings),
      unanswered: [],
      waiting: [],
      summary: 'nothing was checked',
    }
  },
}
`,
    ],
    [
      `src/checks/${id}/rules.ts`,
      `// The rules of the ${id} check. Create one with \`npm run new-rule RULE ${id}\`.
export {}
`,
    ],
  ])
}

/** Formatted like prettier. */
function renderCheckDefinitionLine(id: string, title: string): string {
  const line = `  { id: '${id}', title: '${title}', requirement: 'required' },\n`
  if (line.length <= 111) return line
  return `  {\n    id: '${id}',\n    title: '${title}',\n    requirement: 'required',\n  },\n`
}

function createLineInsertions(id: string, title: string): readonly LineInsertion[] {
  const name = toCamelCase(id)
  const key = name === id ? id : `'${id}'`
  return [
    {
      file: 'packages/findings/src/checks.ts',
      before: '] as const satisfies',
      text: renderCheckDefinitionLine(id, title),
    },
    {
      file: 'src/checks/all-checks.ts',
      before: '\nconst checkById',
      text: `import { ${name}Check } from './${id}/${id}.ts'\n`,
    },
    {
      file: 'src/checks/all-checks.ts',
      before: '}\n\nexport const allChecks',
      text: `  ${key}: ${name}Check,\n`,
    },
    {
      file: 'src/checks/all-rules.ts',
      before: '\nexport const allRules',
      text: `import * as ${name}Rules from './${id}/rules.ts'\n`,
    },
    {
      file: 'src/checks/all-rules.ts',
      before: ']\n\n/** Rules that',
      text: `  ...Object.values(${name}Rules),\n`,
    },
  ]
}

/** Writes a new check below `root`, and returns the written paths. Throws an Error, without writing, if one exists. */
export function writeCheck(root: string, id: string, title: string): string[] {
  const files = createCheckFiles(id, title)
  for (const path of files.keys()) if (existsSync(join(root, path))) throw new Error(`${path} already exists`)
  for (const { file, before, text } of createLineInsertions(id, title)) {
    const now = files.get(file) ?? readFileSync(join(root, file), 'utf8')
    const at = now.indexOf(before)
    if (at < 0) throw new Error(`${file} has no place for ${text.trim()}`)
    files.set(file, `${now.slice(0, at)}${text}${now.slice(at)}`)
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...files.keys()]
}

function main([id, title, ...others]: readonly string[]): void {
  if (id === undefined || title === undefined || others.length > 0) {
    process.stderr.write(
      'usage: npm run new-check ID "TITLE"\nTITLE: the statement that is true when the check passes\n',
    )
    process.exitCode = 2
    return
  }
  for (const path of writeCheck(join(import.meta.dirname, '..'), id, title)) process.stdout.write(`${path}\n`)
  process.stdout.write(`Next steps:
1. To create the first rule, run \`npm run new-rule RULE ${id}\` and follow its next steps.
2. In src/checks/${id}/${id}.ts, define the questions, the evaluation, and a summary of what was checked.
3. Run \`npm run touched -- --since HEAD\`. The command fails until the tests and pages that list all checks include this one.
For details, see "A check" in CONTRIBUTING.md.
`)
}

if (process.argv[1] === import.meta.filename) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    // An invalid command line or an existing file: a stack trace would not help.
    process.stderr.write(`new-check: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  }
}
