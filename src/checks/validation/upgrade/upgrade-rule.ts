// The one shape of the rules that compare base and result: a sentence, a severity, words, and `find` over the change
// of one catalog. What the base catalog got wrong already is not looked at again: only what the change does counts.
import type { BundleBlob, Catalog, ChannelBlob, PackageBlob } from '../../../catalog/catalog.ts'
import type { CatalogChange, PackageChange } from '../../../change/change.ts'
import { bundleVersion, packagesIn, type PackageBlobs } from '../../../change/package-blobs.ts'
import { parseVersion, type Version } from '../../../catalog/version.ts'
import { finding, subjectOf, type AnyRule, type Rule } from '../../../findings/rule.ts'
import type { Finding, Location } from '../../../findings/finding.ts'
import { placeOf } from '../catalog-rule.ts'

export interface UpgradeRule extends AnyRule {
  readonly check: 'validation'
  /** The release of catalog-bot that brought it. */
  readonly since: string
  find(change: CatalogChange): Iterable<Finding>
}

/** One place where a rule is broken. */
export interface UpgradeHit<Data extends object> {
  readonly at?: Location | undefined
  /** Names that lead to the object below its package, such as `['stable', 'foo.v1']`. No lines, no counts. */
  readonly about: readonly string[]
  readonly data: Data
  readonly related?: Finding['related']
}

export interface UpgradeRuleText<Data extends object> extends Omit<Rule<Data>, 'check'> {
  readonly since: string
  /** Called for each package that differs. */
  find(change: PackageChange, catalogs: BothSides): Iterable<UpgradeHit<Data>>
}

/** A catalog before and after. Either may be absent. */
export interface BothSides {
  readonly base?: PackageSide
  readonly result?: PackageSide
}

/** One package on one side. */
export interface PackageSide {
  readonly catalog: Catalog
  readonly blob?: PackageBlob
  readonly channels: readonly ChannelBlob[]
  /** The first of that name. */
  channel(name: string): ChannelBlob | undefined
  bundle(name: string): BundleBlob | undefined
  /** Version texts of the package's bundles by name, '' where there is none. */
  readonly versions: ReadonlyMap<string, string>
  isDeprecated(schema: 'olm.package' | 'olm.channel' | 'olm.bundle', name: string): boolean
}

/** Makes a rule: every hit becomes a finding with the rule's words, its subject, catalog and package in its data. */
export function upgradeRule<Data extends object>(text: UpgradeRuleText<Data>): UpgradeRule {
  const { id, severity, title, since } = text
  const rule: Rule<Data> = { id, check: 'validation', severity, title, say: (data) => text.say(data) }
  return {
    id,
    check: 'validation',
    severity,
    title,
    since,
    *find(change) {
      for (const its of change.packages) {
        const sides = sidesOf(its.name, change)
        for (const hit of text.find(its, sides)) {
          const found = finding(rule, hit.at, hit.data, hit.related)
          yield {
            ...found,
            subject: subjectOf([change.root, its.name, ...hit.about]),
            data: { catalog: change.root, package: its.name, ...found.data },
          }
        }
      }
    },
  }
}

/** Where the package itself is said in the result: its blob, else anything of it. */
export function packagePlace({ result }: BothSides): Location | undefined {
  const place = result?.blob?.place ?? result?.channels[0]?.place
  return place && placeOf(place)
}

/** The version of a bundle on either side; undefined where it has none that parses. */
export function versionOf(name: string, { base, result }: BothSides): Version | undefined {
  const parsed = parseVersion(result?.versions.get(name) ?? base?.versions.get(name) ?? '')
  return parsed.ok ? parsed.value : undefined
}

/** The first names of a long list, and how many more there are. */
export function someOf(names: readonly string[], limit = 8): string {
  if (names.length <= limit) return names.join(', ')
  return `${names.slice(0, limit - 1).join(', ')} and ${names.length - limit + 1} more`
}

// Each rule asks for the same sides of the same change: worked out once, kept as long as the change itself.
const known = new WeakMap<CatalogChange, SidesOfChange>()

function sidesOf(name: string, change: CatalogChange): BothSides {
  let sides = known.get(change)
  if (!sides) known.set(change, (sides = new SidesOfChange(change)))
  return sides.of(name)
}

/** The packages that a change touches, on both sides. Looks through the catalogs once, however many there are. */
class SidesOfChange {
  private readonly change: CatalogChange
  private readonly base: ReadonlyMap<string, PackageBlobs>
  private readonly result: ReadonlyMap<string, PackageBlobs>
  private readonly made = new Map<string, BothSides>()

  constructor(change: CatalogChange) {
    const names = new Set(change.packages.map((its) => its.name))
    this.change = change
    this.base = packagesIn(change.base, names)
    this.result = packagesIn(change.result, names)
  }

  of(name: string): BothSides {
    const known = this.made.get(name)
    if (known) return known
    const { base, result } = this.change
    const both = {
      ...(base && { base: sideOf(base, this.base.get(name)) }),
      ...(result && { result: sideOf(result, this.result.get(name)) }),
    }
    this.made.set(name, both)
    return both
  }
}

function sideOf(catalog: Catalog, blobs: PackageBlobs | undefined): PackageSide {
  const { packages = [], channels = [], bundles = [], deprecations = [] } = blobs ?? {}
  const [blob] = packages
  const deprecated = new Set(
    deprecations.flatMap(({ entries }) => entries.map((entry) => `${entry.schema} ${entry.name}`)),
  )
  const channelsByName = byName(channels)
  const bundlesByName = byName(bundles)
  return {
    catalog,
    ...(blob && { blob }),
    channels,
    channel: (channel) => channelsByName.get(channel),
    bundle: (bundle) => bundlesByName.get(bundle),
    versions: new Map(bundles.map((bundle) => [bundle.name, bundleVersion(bundle)])),
    isDeprecated: (schema, object) => deprecated.has(`${schema} ${schema === 'olm.package' ? '' : object}`),
  }
}

function byName<Blob extends { readonly name: string }>(blobs: readonly Blob[]): Map<string, Blob> {
  // Of several the first stays.
  return new Map(blobs.toReversed().map((blob) => [blob.name, blob]))
}
