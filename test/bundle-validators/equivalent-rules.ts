// What the validators report, which of our rules report the same, and the intended differences with their reasons.

export interface ValidatorFinding {
  readonly validator: string
  readonly level: 'error' | 'warning'
  readonly type: string
  readonly field?: string
  readonly detail: string
}

/** The first rule is the usual one. */
const equivalentRulesByMessagePattern: readonly (readonly [pattern: RegExp, ...rules: readonly string[]])[] =
  [
    [/Unable to locate (?:manifests|metadata) directory|unable to find a csv/, 'unreadable-bundle'],
    [/Could not find annotations file/, 'unreadable-bundle', 'missing-bundle-annotation'],
    [/Missing annotation|non-empty value/, 'missing-bundle-annotation'],
    [/Expecting annotation/, 'wrong-bundle-format', 'missing-bundle-annotation', 'moved-bundle-directory'],
    [/dependency/, 'malformed-dependency'],
    [/is not supported type for registryV1/, 'kind-not-bundled', 'undecodable-manifest'],
    [/error validating object metadata/, 'broken-object-metadata'],
    [/Field metadata\.(?:namespace|labels|name\b)/, 'broken-object-metadata', 'broken-crd'],
    [
      /Prerelease is empty|character\(s\) found in|No Major\.Minor\.Patch|Version string empty|leading zeroes/i,
      'unparsable-csv-version',
      'no-csv-version',
      'unreadable-bundle',
    ],
    [/hidden file/, 'hidden-bundle-file'],
    [/contains directory/, 'nested-bundle-directory'],
    [/multiple CSVs/, 'several-csvs'],
    [
      /unable to decode object|error converting YAML|mapping values|did not find expected/,
      'undecodable-manifest',
    ],
    [
      /unable to parse C(?:SV|RD)|cannot unmarshal|unsupported CRD version/i,
      'unreadable-bundle',
      'mistyped-manifest-field',
    ],
    [/couldn't parse plural\.group/, 'unreadable-bundle'],
    [/owned CRD .* not found/, 'unreadable-bundle', 'group-in-owned-crd'],
    [/duplicate CRD/, 'duplicate-crd', 'broken-crd'],
    [/is present in bundle .* but not defined in CSV/, 'unowned-crd'],
    [/Field (?:spec|metadata)\b/, 'broken-crd', 'broken-object-metadata'],
    [/service account .* is not valid|invalid service account/, 'service-account-bundled'],
    [/compressed size with gzip size exceeded/, 'oversized-bundle-content'],
    [/nearing maximum bundle/, 'large-bundle-content'],
    [/release versioning/, 'name-without-release'],
    [/relatedImages\[/, 'unparsable-related-image'],
    [/(?:metadata\.name|spec\.replaces) .* is invalid/, 'invalid-csv-name'],
    [/`alm-examples` and `olm\.examples`/, 'two-example-annotations'],
    [/invalid example|error decoding example/, 'broken-examples'],
    [/example must have a provided API/, 'example-of-other-api'],
    [/provided API should have an example/, 'api-without-example'],
    [/install modes|InstallMode/, 'unusable-install-modes'],
    [/minKubeVersion is not informed/, 'no-min-kube-version'],
    [
      /MinKubeVersion has an invalid value|unable to use csv\.Spec\.MinKubeVersion/,
      'unparsable-min-kube-version',
    ],
    [/required field missing/, 'missing-csv-field'],
    [/uses wrong case/, 'misspelt-annotation'],
    [/olm\.properties annotation/, 'properties-in-annotation'],
    [/'apiVersion' is missing|'kind' is missing/, 'unknown-csv-version', 'undecodable-manifest'],
    [/Provider\.Name not specified/, 'no-provider'],
    [/Spec\.Maintainers/, 'incomplete-maintainer'],
    [/Spec\.Links/, 'incomplete-link'],
    [/Spec\.Version must be set/, 'no-csv-version'],
    [/Spec\.Icon not specified/, 'no-icon'],
    [/Spec\.Icon/, 'broken-icon'],
    [/capabilities level/, 'unknown-capability'],
    [/set of standard categories/, 'unknown-category'],
    [/APIs which were deprecated and removed/, 'removed-api', 'api-never-there'],
    [/resource requests for the container/, 'no-resource-requests'],
    [/has an empty description/, 'undescribed-crd'],
    [
      /not following the recommended naming convention.*channel-naming|channel\(s\)/,
      'unconventional-channel',
    ],
    [/permissions to create CRD/, 'manages-crds'],
    [/csv\.metadata\.Name/, 'unconventional-csv-name'],
    [/unable to find a deployment/, 'no-deployment'],
    [/maxUnavailable|minAvailable/, 'blocking-disruption-budget'],
    [/globalDefault/, 'global-default-priority'],
    [/RBAC includes permission/, 'risky-permission'],
  ]

/** Our rules that report what a validator reports; empty if no rule does. */
export function findEquivalentRules({ detail }: ValidatorFinding): readonly string[] {
  const [, ...rules] = equivalentRulesByMessagePattern.find(([pattern]) => pattern.test(detail)) ?? [/^/]
  return rules
}

/** Why we don't report what a validator reports; undefined if we should. */
export function explainUnreportedFinding({ validator, type, detail }: ValidatorFinding): string | undefined {
  if (validator === 'community')
    return 'the validator "community" is deprecated, and wants the path of a Dockerfile'
  if (type === 'Panic') return 'operator-sdk itself ends with a fault there: an empty list of icons'
  if (/example annotations not found|annotations not found/.test(detail))
    return 'a bundle without examples is no worse: each API without one is told'
  return undefined
}

/** Rules with errors that differ from those of the validators, each with the reason. */
export const validatorDifferenceReasonByRule: ReadonlyMap<string, string> = new Map(
  [
    ...['broken-deployment', 'broken-webhook', 'unserved-owned-crd'],
    ...['misnamed-annotations-file', 'colliding-file-names', 'broken-chart'],
  ].map((rule) => [rule, 'OLM or opm refuses it later, and the validators do not look there']),
)
