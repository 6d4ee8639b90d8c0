// Starts a rule: its file, its page, a good and a bad fixture, and its line in the registry. What it writes runs and
// fails its tests until someone says what the rule finds. `npm run new-rule ID`; overwrites nothing.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const registryPath = 'src/checks/validation/rules.ts'

/** Files of a new rule: path from the root to text. Throws a TypeError for an id that is not kebab-case. */
export function filesOf(id: string): Map<string, string> {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id))
    throw new TypeError(`a rule's id is kebab-case, not "${id}"`)
  const fixtures = `fixtures/rules/${id}`
  return new Map([
    [`src/checks/validation/rules/${id}.ts`, ruleText(id)],
    [`docs/rules/${id}.md`, pageText(id)],
    [`${fixtures}/good/plain/catalog.yaml`, fixtureText()],
    [`${fixtures}/bad/rename-me/catalog.yaml`, fixtureText(id)],
  ])
}

/** The registry's text with one more rule, sorted by id. */
export function register(registry: string, id: string): string {
  const ids = [...registry.matchAll(/from '\.\/rules\/([a-z0-9-]+)\.ts'/g)].map((match) => match[1] ?? '')
  if (ids.includes(id)) throw new Error(`${registryPath} has a rule "${id}" already`)
  const head = registry.slice(0, registry.indexOf('import { '))
  const rest = /import type [^\n]+\n/.exec(registry)?.[0] ?? ''
  return renderRegistry([...ids, id], head, rest)
}

/** The registry for these ids. */
export function renderRegistry(ids: readonly string[], head: string, typeImport: string): string {
  const sorted = [...new Set(ids)].sort()
  return [
    head.trimEnd(),
    ...sorted.map((id) => `import { ${exportOf(id)} } from './rules/${id}.ts'`),
    typeImport.trimEnd(),
    '',
    '/** All rules of our own, sorted by id. */',
    'export const rules: readonly CatalogRule[] = [',
    ...sorted.map((id) => `  ${exportOf(id)},`),
    ']',
    '',
  ].join('\n')
}

/** `two-heads` is exported as `twoHeads`. */
function exportOf(id: string): string {
  return id.replaceAll(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
}

function ruleText(id: string): string {
  return `// What goes wrong, and why opm does not see it.
import { catalogRule, placeOf } from '../catalog-rule.ts'
import { bundlesOf } from '../requirements.ts'

export const ${exportOf(id)} = catalogRule<{ bundle: string }>({
  id: '${id}',
  severity: 'warning',
  since: '0.1.0',
  title: 'What the rule demands',
  say: ({ bundle }) => ({
    what: \`\${bundle} is wrong\`,
    why: 'Why it matters to those who install Operators.',
    fix: 'What to do about it.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of bundlesOf(catalog)) {
      const { name, place } = bundle.blob
      if (name !== 'wrong') continue
      yield { at: placeOf(place), about: [its.name, name], data: { bundle: name } }
    }
  },
})
`
}

function pageText(id: string): string {
  return `# ${id}

## What

## Why

## Fix

## Example

<!-- example bad/rename-me/catalog.yaml -->
<!-- /example -->
`
}

const image = `quay.io/example/foo@sha256:${'0123456789abcdef'.repeat(4)}`

/** A package that no rule complains about; with an id, its bundle is marked as the offender. */
function fixtureText(id?: string): string {
  return `schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries:
  - name: foo.v1.0.0
---
schema: olm.bundle${id === undefined ? '' : ` # ${id}`}
package: foo
name: foo.v1.0.0
image: ${image}
relatedImages:
  - name: ''
    image: ${image}
properties:
  - type: olm.package
    value: { packageName: foo, version: 1.0.0 }
  - type: olm.csv.metadata
    value:
      displayName: Foo
      installModes: [{ type: AllNamespaces, supported: true }]
`
}

/** Writes a new rule below \`root\`; gives the paths written. Throws an Error when one of its files exists. */
export function writeRule(root: string, id: string): string[] {
  const files = filesOf(id)
  for (const path of files.keys()) if (existsSync(join(root, path))) throw new Error(`${path} exists already`)
  const registry = join(root, registryPath)
  files.set(registryPath, register(readFileSync(registry, 'utf8'), id))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...files.keys()]
}

if (process.argv[1] === import.meta.filename) {
  const id = process.argv[2]
  if (id === undefined) {
    process.stderr.write('usage: npm run new-rule ID [ROOT]\n')
    process.exitCode = 2
  } else {
    for (const path of writeRule(process.argv[3] ?? join(import.meta.dirname, '..'), id))
      process.stdout.write(`${path}\n`)
    process.stdout.write('next: say what it finds, rename the bad case for its reason, npm run rule-pages\n')
  }
}
