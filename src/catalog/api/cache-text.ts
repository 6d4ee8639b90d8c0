// The package index and bundles as the JSON that opm keeps in its cache, byte for byte.
import { goList, goMap, goStruct, goText, unlessEmpty, unlessNone } from '../../go/json/go-object.ts'
import type { ApiBundle, Deprecation, GroupVersionKind, TypedValue } from './api-types.ts'
import type { IndexedBundle, IndexedChannel, PackageIndex } from './package-index.ts'
import { base64 } from './stub-csv.ts'

/** `cache/packages.json`. */
export function packageIndexText(index: PackageIndex): string {
  return goMap(
    [...index.values()].map((one) => [
      one.name,
      goStruct([
        ['name', goText(one.name)],
        ['description', goText(one.description)],
        [
          'icon',
          one.icon
            ? goStruct([
                ['base64data', one.icon.data === null ? 'null' : goText(base64(one.icon.data))],
                ['mediatype', goText(one.icon.mediaType)],
              ])
            : 'null',
        ],
        ['defaultChannel', goText(one.defaultChannel)],
        [
          'Channels',
          goMap([...one.channels.values()].map((channel) => [channel.name, channelText(channel)])),
        ],
        ['deprecation', deprecation(one.deprecation)],
      ]),
    ]),
  )
}

function channelText(channel: IndexedChannel): string {
  return goStruct([
    ['Name', goText(channel.name)],
    ['Head', goText(channel.head)],
    ['Bundles', goMap([...channel.bundles.values()].map((bundle) => [bundle.name, entryText(bundle)]))],
    ['deprecation', deprecation(channel.deprecation)],
  ])
}

function entryText(bundle: IndexedBundle): string {
  return goStruct([
    ['package', goText(bundle.package)],
    ['channel', goText(bundle.channel)],
    ['name', goText(bundle.name)],
    ['replaces', goText(bundle.replaces)],
    ['skips', bundle.skips === null ? 'null' : goList(bundle.skips.map(goText))],
  ])
}

/** `cache/PACKAGE_CHANNEL_BUNDLE.json`. */
export function bundleText(bundle: ApiBundle): string {
  return goStruct([
    ['csvName', unlessEmpty(bundle.csvName)],
    ['packageName', unlessEmpty(bundle.packageName)],
    ['channelName', unlessEmpty(bundle.channelName)],
    ['csvJson', unlessEmpty(bundle.csvJson)],
    ['object', unlessNone(bundle.object.map(goText))],
    ['bundlePath', unlessEmpty(bundle.bundlePath)],
    ['providedApis', unlessNone(bundle.providedApis.map(groupVersionKind))],
    ['requiredApis', unlessNone(bundle.requiredApis.map(groupVersionKind))],
    ['version', unlessEmpty(bundle.version)],
    ['skipRange', unlessEmpty(bundle.skipRange)],
    ['dependencies', unlessNone(bundle.dependencies.map(typedValue))],
    ['properties', unlessNone(bundle.properties.map(typedValue))],
    ['replaces', unlessEmpty(bundle.replaces)],
    ['skips', unlessNone(bundle.skips.map(goText))],
    ['deprecation', bundle.deprecation && goStruct([['message', unlessEmpty(bundle.deprecation.message)]])],
  ])
}

function groupVersionKind({ group, version, kind }: GroupVersionKind): string {
  return goStruct([
    ['group', unlessEmpty(group)],
    ['version', unlessEmpty(version)],
    ['kind', unlessEmpty(kind)],
  ])
}

function typedValue({ type, value }: TypedValue): string {
  return goStruct([
    ['type', unlessEmpty(type)],
    ['value', unlessEmpty(value)],
  ])
}

function deprecation(found: Deprecation | undefined): string | undefined {
  return found && goStruct([['message', goText(found.message)]])
}
