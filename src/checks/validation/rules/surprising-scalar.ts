// A value that YAML turns into something else than it looks like, at a place where opm takes any type.
// Where opm wants text, it refuses the file itself; here nobody would notice.
import { catalogRule } from '../catalog-rule.ts'
import { aboutOddity, odditiesOf } from '../oddities.ts'

export const surprisingScalar = catalogRule<{ path: string; text: string; value: number | boolean }>({
  id: 'surprising-scalar',
  severity: 'warning',
  since: '0.1.0',
  title: 'Values without quotes mean what they look like',
  say: ({ path, text, value }) => ({
    what: `${path}: ${text} is read as the ${typeof value} ${String(value)}`,
    why: 'YAML guesses the type of text without quotes, and everything behind it sees only the guess.',
    fix: `Write '${text}' in quotes if text is meant, ${String(value)} if the ${typeof value} is.`,
  }),
  *find(catalog) {
    for (const oddity of odditiesOf(catalog, 'scalar')) {
      // The version of the platform is looked at by a rule that knows what it must be.
      if (isMaxOpenShiftVersion(catalog.catalog.bundles, oddity)) continue
      const { path, text, value } = oddity
      yield { ...aboutOddity(oddity, path), data: { path, text, value } }
    }
  },
})

interface Place {
  readonly file: string
  readonly mark: { readonly line: number; readonly column: number }
  readonly path: string
  readonly package: string
  readonly name: string
}

function isMaxOpenShiftVersion(
  bundles: readonly {
    readonly name: string
    readonly package: string
    readonly properties: readonly { readonly type: string }[]
  }[],
  { path, package: inPackage, name }: Place,
): boolean {
  const index = /^properties\[(\d+)\]\.value$/i.exec(path)?.[1]
  if (index === undefined) return false
  const bundle = bundles.find((candidate) => candidate.name === name && candidate.package === inPackage)
  return bundle?.properties[Number(index)]?.type === 'olm.maxOpenShiftVersion'
}
