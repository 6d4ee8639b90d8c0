// How OLM v0 resolves small catalogs, according to its documentation and its tests. Each case is a claim, a catalog,
// the Subscriptions, and the new bundles or a part of OLM's error. `compare-with-olm.ts` compares each case with OLM.

export interface ResolverCase {
  readonly claim: string
  readonly catalog: readonly string[]
  readonly subscriptions: readonly string[]
  /** Names in Go's order; or a part of OLM's message. */
  readonly gives: readonly string[] | string
}

const upgradeChainCatalogLines = [
  'foo/stable 1.2.0 replaces 1.1.0',
  'foo/stable 1.1.0 replaces 1.0.0',
  'foo/stable 1.0.0',
]
const fooNeedsRed = ['foo/stable 1.0.0', 'foo 1.0.0 needs Red']
const barGivesRed = ['bar/stable 1.0.0', 'bar 1.0.0 gives Red']
const newBarGivesRed = ['bar/stable 2.0.0', 'bar 2.0.0 gives Red']
const bazGivesRed = ['baz/stable 1.0.0', 'baz 1.0.0 gives Red']
const barAndBazCatalogLines = [...barGivesRed, ...bazGivesRed]

const resolverCaseTable: readonly (Omit<ResolverCase, 'subscriptions'> & Partial<ResolverCase>)[] = [
  // A Subscription's channel.
  { claim: 'the head is installed', catalog: upgradeChainCatalogLines, gives: ['foo.v1.2.0'] },
  {
    claim: 'the head is what nothing replaces, not what is newest',
    catalog: ['foo/stable 1.0.0 replaces 2.0.0', 'foo/stable 2.0.0'],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'each channel has its own head',
    catalog: [...upgradeChainCatalogLines, 'foo/old 1.1.0 replaces 1.0.0', 'foo/old 1.0.0'],
    subscriptions: ['foo/old'],
    gives: ['foo.v1.1.0'],
  },
  {
    claim: 'without a channel the default channel is preferred',
    catalog: ['foo/alpha 2.0.0', 'foo/stable 1.0.0', 'foo default stable'],
    subscriptions: ['foo'],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'without a channel another one will do where the default channel cannot be installed',
    catalog: [...fooNeedsRed, 'foo/beta 0.9.0', 'foo/alpha 2.0.0'],
    subscriptions: ['foo'],
    gives: ['foo.v2.0.0'],
  },
  {
    claim: 'a package that is not there is told',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['nowhere/stable'],
    gives: 'no operators found in package nowhere in the catalog referenced by subscription sub0',
  },
  {
    claim: 'a channel that is not there is told',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/beta'],
    gives: 'no operators found in channel beta of package foo in the catalog referenced by subscription sub0',
  },
  {
    claim: 'a catalog that is not there is told',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable in third'],
    gives: 'no operators found from catalog third',
  },
  {
    claim: 'a startingCSV that is not there is told',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable starting 3.0.0'],
    gives: 'no operators found with name foo.v3.0.0 in channel stable of package foo',
  },
  {
    claim: 'startingCSV is what is installed first',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable starting 1.0.0'],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'startingCSV counts no more once something is installed',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable starting 1.0.0 has 1.1.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'a version that is skipped can be named as startingCSV',
    catalog: ['foo/stable 1.2.0 replaces 1.0.0 skips 1.1.0', 'foo/stable 1.1.0', 'foo/stable 1.0.0'],
    subscriptions: ['foo/stable starting 1.1.0'],
    gives: ['foo.v1.1.0'],
  },
  // Upgrades.
  {
    claim: 'an upgrade goes one step along replaces',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.1.0'],
  },
  {
    claim: 'at the head nothing changes',
    catalog: upgradeChainCatalogLines,
    subscriptions: ['foo/stable has 1.2.0'],
    gives: [],
  },
  {
    claim: 'skips leads from what is skipped',
    catalog: [
      'foo/stable 1.2.0 replaces 1.0.0 skips 1.1.0',
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo/stable 1.0.0',
    ],
    subscriptions: ['foo/stable has 1.1.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'what is skipped is never an upgrade',
    catalog: ['foo/stable 1.2.0 skips 1.1.0', 'foo/stable 1.1.0 replaces 1.0.0'],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: [],
  },
  {
    claim: 'skips can lead from a version that the channel no longer has',
    catalog: ['foo/stable 1.2.0 skips 1.0.0'],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'replaces can lead from a version that the channel no longer has',
    catalog: ['foo/stable 1.2.0 replaces 1.0.0'],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'a version that nothing leads from stays',
    catalog: ['foo/stable 1.2.0 replaces 1.1.0', 'foo/stable 1.1.0'],
    subscriptions: ['foo/stable has 0.9.0'],
    gives: [],
  },
  {
    claim: 'skipRange leads from every version in the range, past what lies between',
    catalog: [
      'foo/stable 1.2.0 replaces 1.1.0 range ">=1.0.0 <1.2.0"',
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo/stable 1.0.0',
    ],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'skipRange leads from versions that no catalog has',
    catalog: ['foo/stable 1.2.0 range "<1.2.0"'],
    subscriptions: ['foo/stable has 0.0.1'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'skipRange does not lead from outside of it',
    catalog: ['foo/stable 1.2.0 range ">=1.1.0 <1.2.0"'],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: [],
  },
  {
    claim: 'a prerelease lies inside a range, as blang has it',
    catalog: ['foo/stable 1.2.0 range ">=1.0.0 <1.2.0"'],
    subscriptions: ['foo/stable has 1.1.0-rc1'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'a prerelease of the upper bound lies below it',
    catalog: ['foo/stable 1.2.0 range "<1.2.0"'],
    subscriptions: ['foo/stable has 1.2.0-rc1'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'of several that lead from a version the one nearest to the head is taken',
    catalog: [
      'foo/stable 1.3.0 replaces 1.2.0',
      'foo/stable 1.2.0 replaces 1.1.0 range "<1.2.0"',
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo/stable 1.0.0',
    ],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.2.0'],
  },
  {
    claim: 'an upgrade stays where the next version cannot be installed',
    catalog: [...upgradeChainCatalogLines, 'foo 1.1.0 needs Red'],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: [],
  },
  {
    claim: 'another channel of the Subscription upgrades along that channel',
    catalog: ['foo/stable 1.0.0', 'foo/fast 2.0.0 replaces 1.0.0', 'foo/fast 1.0.0'],
    subscriptions: ['foo/fast has 1.0.0'],
    gives: ['foo.v2.0.0'],
  },
  // Required APIs.
  {
    claim: 'the provider of a required API comes along',
    catalog: [...fooNeedsRed, ...barGivesRed],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'what a provider requires comes along too',
    catalog: [
      ...fooNeedsRed,
      ...barGivesRed,
      'bar 1.0.0 needs Blue',
      'baz/stable 1.0.0',
      'baz 1.0.0 gives Blue',
    ],
    gives: ['bar.v1.0.0', 'baz.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'an API that nobody provides is told',
    catalog: fooNeedsRed,
    gives:
      'bundle foo.v1.0.0 requires an operator providing an API with group: example.com, version: v1, kind: Red',
  },
  {
    claim: 'another version of the API is another API',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs Red/v2', ...barGivesRed],
    gives: 'version: v2, kind: Red',
  },
  {
    claim: 'a bundle can provide what it requires',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 gives Red', 'foo 1.0.0 needs Red'],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'two that require one another come together',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 gives Blue',
      'foo 1.0.0 needs Red',
      ...barGivesRed,
      'bar 1.0.0 needs Blue',
    ],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'of two providers the first package by name is taken',
    catalog: [...fooNeedsRed, ...barAndBazCatalogLines],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'a provider in a default channel goes before one in another channel',
    catalog: [...fooNeedsRed, ...barAndBazCatalogLines, 'bar/extra 0.9.0', 'bar default extra'],
    gives: ['baz.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'the head of the provider is preferred',
    catalog: [...fooNeedsRed, 'bar/stable 2.0.0 replaces 1.0.0', 'bar 2.0.0 gives Red', ...barGivesRed],
    gives: ['bar.v2.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'an older version will do where the head does not provide the API',
    catalog: [...fooNeedsRed, 'bar/stable 2.0.0 replaces 1.0.0', ...barGivesRed],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'what is replaced and skipped is no provider either',
    catalog: [...fooNeedsRed, 'bar/stable 2.0.0 replaces 1.0.0 skips 1.0.0', ...barGivesRed],
    gives: 'requires an operator providing an API',
  },
  {
    claim: 'what is skipped is no provider',
    catalog: [...fooNeedsRed, 'bar/stable 2.0.0 skips 1.0.0', ...barGivesRed],
    gives: 'requires an operator providing an API',
  },
  {
    claim: 'the Subscription falls back to an older version where the head cannot have what it requires',
    catalog: [...upgradeChainCatalogLines, 'foo 1.2.0 needs Red'],
    gives: ['foo.v1.1.0'],
  },
  {
    claim: 'what is installed already is the preferred provider',
    catalog: [...fooNeedsRed, ...barAndBazCatalogLines],
    subscriptions: ['foo/stable', 'baz/stable has 1.0.0'],
    gives: ['foo.v1.0.0'],
  },
  // Only one provider of an API, only one bundle of a package.
  {
    claim: 'two Operators that provide the same API are not installed together',
    catalog: barAndBazCatalogLines,
    subscriptions: ['bar/stable', 'baz/stable'],
    gives: 'provide Red (example.com/v1)',
  },
  {
    claim: 'an Operator that provides an API which another one brings is not installed beside it',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 gives Red',
      'foo 1.0.0 needs Blue',
      ...barGivesRed,
      'bar 1.0.0 gives Blue',
    ],
    gives: 'provide Red (example.com/v1)',
  },
  {
    claim: 'two versions of one package are not installed together',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 needs bar "1.0.0"',
      'foo 1.0.0 needs Blue',
      'bar/stable 1.0.0',
      'bar/fast 2.0.0',
      'bar 2.0.0 gives Blue',
    ],
    gives: 'originate from package bar',
  },
  {
    claim: 'one bundle can meet two requirements',
    catalog: [...fooNeedsRed, 'foo 1.0.0 needs Blue', ...barGivesRed, ...bazGivesRed, 'baz 1.0.0 gives Blue'],
    gives: ['baz.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'a bundle that lists an API twice cannot be installed',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 gives Red', 'foo 1.0.0 gives Red'],
    gives: 'foo.v1.0.0 and first/simulation/stable/foo.v1.0.0 provide Red',
  },
  {
    claim: 'an installed Operator without a Subscription stays, and is in the way of others',
    catalog: barAndBazCatalogLines,
    subscriptions: ['bar/stable', 'baz unsubscribed 1.0.0'],
    gives: 'clusterserviceversion baz.v1.0.0 exists and is not referenced by a subscription',
  },
  {
    claim: 'an upgrade that provides what its predecessor provided is none too many',
    catalog: [
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo 1.1.0 gives Red',
      'foo/stable 1.0.0',
      'foo 1.0.0 gives Red',
    ],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['foo.v1.1.0'],
  },
  // Required packages.
  {
    claim: 'a required package comes along',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs bar ">=1.0.0"', 'bar/stable 1.5.0'],
    gives: ['bar.v1.5.0', 'foo.v1.0.0'],
  },
  {
    claim: 'the newest entry in the range is taken',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 needs bar "<2.0.0"',
      'bar/stable 2.0.0 replaces 1.5.0',
      'bar/stable 1.5.0 replaces 1.0.0',
      'bar/stable 1.0.0',
    ],
    gives: ['bar.v1.5.0', 'foo.v1.0.0'],
  },
  {
    claim: 'a range that no version is in is told',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs bar ">=2.0.0"', 'bar/stable 1.0.0'],
    gives: 'bundle foo.v1.0.0 requires an operator with package: bar and with version in range: >=2.0.0',
  },
  {
    claim: 'a package that no catalog has is told',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs bar "1.x"'],
    gives: 'with package: bar and with version in range: 1.x',
  },
  {
    claim: 'a range that cannot be read stops everything',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs bar "^1.0.0"', 'bar/stable 1.0.0'],
    gives: 'Could not',
  },
  {
    claim: 'two requirements of one package are met by one version of it',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 needs bar ">=1.0.0"',
      'foo 1.0.0 needs bar "<1.5.0"',
      'bar/stable 1.9.0 replaces 1.2.0',
      'bar/stable 1.2.0',
    ],
    gives: ['bar.v1.2.0', 'foo.v1.0.0'],
  },
  {
    claim: 'requirements of two Operators that no one version meets are not met',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 needs baz "1.0.0"',
      'bar/stable 1.0.0',
      'bar 1.0.0 needs baz "2.0.0"',
      'baz/stable 2.0.0 replaces 1.0.0',
      'baz/stable 1.0.0',
    ],
    subscriptions: ['foo/stable', 'bar/stable'],
    gives: 'originate from package baz',
  },
  {
    claim: 'an upgrade brings what the new version requires',
    catalog: [
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo 1.1.0 needs bar ">=1.0.0"',
      'foo/stable 1.0.0',
      'bar/stable 1.0.0',
    ],
    subscriptions: ['foo/stable has 1.0.0'],
    gives: ['bar.v1.0.0', 'foo.v1.1.0'],
  },
  {
    claim: 'an upgrade waits for a provider that another Subscription still holds back',
    catalog: [
      'foo/stable 1.1.0 replaces 1.0.0',
      'foo 1.1.0 needs bar ">=2.0.0"',
      'foo/stable 1.0.0',
      'bar/stable 2.0.0',
      'bar/old 1.0.0',
    ],
    subscriptions: ['foo/stable has 1.0.0', 'bar/old has 1.0.0'],
    gives: [],
  },
  // Labels, constraints, deprecation.
  {
    claim: 'a required label is met by a bundle that has it',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 needs label gold', 'bar/stable 1.0.0', 'bar 1.0.0 label gold'],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'a constraint can ask for a package',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"package":{"packageName":"bar","versionRange":"1.x"}}',
      'bar/stable 1.0.0',
    ],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'all of two packages is met by no bundle',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"all":{"constraints":[{"package":{"packageName":"bar","versionRange":"1.x"}},{"package":{"packageName":"baz","versionRange":"1.x"}}]}}',
      ...barAndBazCatalogLines,
    ],
    gives: 'with package: bar and with version in range: 1.x and with package: baz',
  },
  {
    claim: 'any takes the first of what is there by the order of catalogs, not by its own',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"any":{"constraints":[{"package":{"packageName":"baz","versionRange":"1.x"}},{"package":{"packageName":"bar","versionRange":"1.x"}}]}}',
      ...barAndBazCatalogLines,
    ],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'not, inside of all, leaves versions out',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"all":{"constraints":[{"package":{"packageName":"bar","versionRange":">=1.0.0"}},{"not":{"constraints":[{"package":{"packageName":"bar","versionRange":"1.2.0"}}]}}]}}',
      'bar/stable 1.2.0 replaces 1.1.0',
      'bar/stable 1.1.0',
    ],
    gives: ['bar.v1.1.0', 'foo.v1.0.0'],
  },
  {
    claim: 'not alone is met by whatever is there, the bundle itself included',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"not":{"constraints":[{"gvk":{"group":"example.com","version":"v1","kind":"Red"}}]}}',
    ],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'a CEL rule looks at the properties of one bundle',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"cel":{"rule":"properties.exists(p, p.type == \\"certified\\")"}}',
      'bar/stable 1.0.0',
      'baz/stable 1.0.0',
      'baz 1.0.0 property certified true',
    ],
    gives: ['baz.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'a CEL rule compares versions',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"cel":{"rule":"properties.exists(p, p.type == \\"olm.package\\" && p.value.packageName == \\"bar\\" && (semver_compare(p.value.version, \\"1.2.0\\") < 0))"}}',
      'bar/stable 1.2.0 replaces 1.1.0',
      'bar/stable 1.1.0',
    ],
    gives: ['bar.v1.1.0', 'foo.v1.0.0'],
  },
  {
    claim: 'the failure message of a CEL rule is told',
    catalog: [
      'foo/stable 1.0.0',
      'foo 1.0.0 constraint {"failureMessage":"wants gold","cel":{"rule":"properties.exists(p, p.type == \\"gold\\")"}}',
    ],
    gives: 'and message: "wants gold"',
  },
  {
    claim: 'a CEL rule that fails as it runs is not met',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 constraint {"cel":{"rule":"properties[99].type == \\"x\\""}}'],
    gives: 'bundle foo.v1.0.0 requires an operator with constraint',
  },
  {
    claim: 'a CEL rule that does not compile stops everything',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 constraint {"cel":{"rule":"nonsense("}}'],
    gives: 'convert olm.constraint to resolver predicate',
  },
  {
    claim: 'a constraint with an unknown field stops everything',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 constraint {"none":{"constraints":[]}}'],
    gives: 'parse olm.constraint: json: unknown field "none"',
  },
  {
    claim: 'an empty constraint stops everything',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 constraint {}'],
    gives: 'constraint is empty',
  },
  {
    claim: 'a deprecated bundle is passed over',
    catalog: [...upgradeChainCatalogLines, 'foo 1.2.0 deprecated'],
    gives: ['foo.v1.1.0'],
  },
  {
    claim: 'where all are deprecated that is told',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 deprecated'],
    gives: 'foo.v1.0.0 is deprecated',
  },
  {
    claim: 'property types that OLM does not know require nothing',
    catalog: ['foo/stable 1.0.0', 'foo 1.0.0 property olm.maxOpenShiftVersion "4.1"'],
    gives: ['foo.v1.0.0'],
  },
  // Several catalogs.
  {
    claim: 'the catalog of the Subscription is where its bundle comes from',
    catalog: ['@first', 'foo/stable 1.0.0', '@second 9', 'foo/stable 2.0.0'],
    subscriptions: ['foo/stable in first'],
    gives: ['foo.v1.0.0'],
  },
  {
    claim: 'a dependency comes from the same catalog where that has it',
    catalog: ['@first', ...fooNeedsRed, ...barGivesRed, '@second 9', ...newBarGivesRed],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'else from the catalog with the highest priority',
    catalog: ['@first', ...fooNeedsRed, '@second 1', ...barGivesRed, '@third 2', ...newBarGivesRed],
    gives: ['bar.v2.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'and at the same priority from the first by name',
    catalog: ['@first', ...fooNeedsRed, '@third', ...newBarGivesRed, '@second', ...barGivesRed],
    gives: ['bar.v1.0.0', 'foo.v1.0.0'],
  },
  {
    claim: 'what others subscribe to has nothing to do with a package of its own',
    catalog: [...upgradeChainCatalogLines, 'bar/stable 1.0.0'],
    subscriptions: ['foo/stable', 'bar/stable'],
    gives: ['bar.v1.0.0', 'foo.v1.2.0'],
  },
  {
    claim: 'one Subscription that cannot be met stops the others of its namespace',
    catalog: [...upgradeChainCatalogLines, 'bar/stable 1.0.0', 'bar 1.0.0 needs Red'],
    subscriptions: ['foo/stable', 'bar/stable'],
    gives: 'bundle bar.v1.0.0 requires an operator providing an API',
  },
]

/** A case without Subscriptions subscribes to the channel stable of the package foo. */
export const resolverCases: readonly ResolverCase[] = resolverCaseTable.map((resolverCase) => ({
  subscriptions: ['foo/stable'],
  ...resolverCase,
}))
