// Rules about the name, the version, and the channels of a bundle.
import {
  parseVersion,
  parsePrereleaseIdentifier,
  parseVersionTolerantly,
} from '@catalog-bot/fbc/versions/version'
import { defineBundleRule } from '../bundle-rule.ts'
import { getJsonFieldAtPath, getStringAtPath } from '../fields.ts'
import { bundleAnnotationKeys } from '../bundle-metadata.ts'

export const unconventionalChannelRule = defineBundleRule<{ channel: string }>({
  id: 'unconventional-channel',
  severity: 'warning',
  suite: 'good-practices',
  title: 'Channel names start with candidate, fast, or stable',
  what: ({ channel }) => `the channel name "${channel}" does not start with candidate, fast, or stable`,
  why: "Users who subscribe to the channel can't tell how stable its releases are.",
  fix: 'Rename the channel so that its name starts with candidate, fast, or stable.',
  *find({ annotations, annotationsFile }) {
    const keys = [bundleAnnotationKeys.channels, bundleAnnotationKeys.defaultChannel]
    const seen = new Set<string>()
    for (const key of keys)
      for (const name of (annotations[key] ?? '').split(',')) {
        const channel = name.trim()
        if (channel === '' || seen.has(channel) || /^(?:candidate|fast|stable)/.test(channel)) continue
        seen.add(channel)
        yield { file: annotationsFile, path: ['annotations', key], data: { channel } }
      }
  },
})

export const unknownCsvVersionRule = defineBundleRule<{ apiVersion: string }>({
  id: 'unknown-csv-version',
  severity: 'warning',
  title: 'A ClusterServiceVersion uses an API version that OLM supports',
  what: ({ apiVersion }) =>
    `the apiVersion of the ClusterServiceVersion is "${apiVersion}", not operators.coreos.com/v1alpha1`,
  why: "OLM can't unpack the bundle and reports the failure only in the ErrorPreventedUnpacking condition.",
  fix: 'Set apiVersion to operators.coreos.com/v1alpha1.',
  *find({ csv: { apiVersion } }) {
    if (apiVersion !== 'operators.coreos.com/v1alpha1') yield { path: ['apiVersion'], data: { apiVersion } }
  },
})

export const unparsableCsvVersionRule = defineBundleRule<{ field: string; text: string }>({
  id: 'unparsable-csv-version',
  severity: 'error',
  title: "A bundle's version can be parsed",
  what: ({ field, text }) => `spec.${field} is "${text}", which is not a valid ${field}`,
  why: "OLM can't read the ClusterServiceVersion, so it doesn't install the bundle.",
  fix: 'Write the version as defined by https://semver.org, for example 1.2.3. Write `release` like a pre-release, which is the part of a version after the hyphen.',
  *find({ csv }) {
    const version = getJsonFieldAtPath(csv.data, 'spec', 'version')
    if (typeof version === 'string' && !parseVersionTolerantly(version).ok)
      yield { path: ['spec', 'version'], data: { field: 'version', text: version } }
    const release = getJsonFieldAtPath(csv.data, 'spec', 'release')
    if (typeof release === 'string' && release.split('.').some((part) => !parsePrereleaseIdentifier(part).ok))
      yield { path: ['spec', 'release'], data: { field: 'release', text: release } }
  },
})

export const noCsvVersionRule = defineBundleRule<Record<never, never>>({
  id: 'no-csv-version',
  severity: 'error',
  suite: 'operatorhub',
  title: 'A bundle has a version',
  what: 'the ClusterServiceVersion has no version',
  why: "OperatorHub.io rejects the bundle, and OLM can't determine the upgrade order.",
  fix: 'Set spec.version.',
  *find({ csv }) {
    if (['', '0.0.0'].includes(getStringAtPath(csv.data, 'spec', 'version')))
      yield { path: ['spec', 'version'], data: {} }
  },
})

export const nameWithoutReleaseRule = defineBundleRule<{ name: string; wanted: string }>({
  id: 'name-without-release',
  severity: 'error',
  title: 'If a bundle has a release, the bundle name includes the release',
  what: ({ name, wanted }) => `the bundle is named "${name}", but its release requires the name "${wanted}"`,
  why: 'opm rejects a catalog that contains the bundle under another name.',
  fix: 'Name the ClusterServiceVersion PACKAGE-vVERSION-RELEASE.',
  *find({ csv, package: its }) {
    const release = getStringAtPath(csv.data, 'spec', 'release')
    const wanted = `${its}-v${getStringAtPath(csv.data, 'spec', 'version')}-${release}`
    if (release !== '' && csv.name !== wanted)
      yield { path: ['metadata', 'name'], data: { name: csv.name, wanted } }
  },
})

/** Longer names are invalid, and finding their version would take quadratic time. */
const maxKubernetesNameLength = 253

/** Matches a trailing version after any prefix, like the good-practices validator. */
const trailingVersionPattern = /\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+)?$/

export const unconventionalCsvNameRule = defineBundleRule<{ name: string }>({
  id: 'unconventional-csv-name',
  severity: 'warning',
  suite: 'good-practices',
  title: 'A bundle is named NAME.vVERSION',
  what: ({ name }) => `the bundle is named "${name}", not NAME.vVERSION`,
  why: 'Users and tools derive the version from the name.',
  fix: 'Use the form NAME.vVERSION, for example foo-operator.v1.2.3.',
  *find({ csv }) {
    // Another rule covers names with a release.
    if (getStringAtPath(csv.data, 'spec', 'release') !== '') return
    const [version = ''] = trailingVersionPattern.exec(csv.name.slice(-maxKubernetesNameLength)) ?? []
    if (csv.name.split('.v').length !== 2 || !parseVersion(version).ok)
      yield { path: ['metadata', 'name'], data: { name: csv.name } }
  },
})
