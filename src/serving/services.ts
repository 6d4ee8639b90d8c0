// Service definitions for gRPC and descriptors for reflection.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor/index.js'
import { protocols, type Protocol } from './protocols.ts'

export type Message = Readonly<Record<string, unknown>>

export type Service = ServiceDefinition & Readonly<Record<string, MethodDefinition<Message, Message>>>

export interface DescribedFile {
  readonly name: string
  readonly dependencies: readonly string[]
  readonly symbols: ReadonlySet<string>
  readonly bytes: Uint8Array
}

const root = new protobuf.Root()
for (const { text } of protocols) protobuf.parse(text, root, { keepCase: true })
root.resolveAll()

export function serviceOf(name: string): Service {
  const service = root.lookupService(name)
  return Object.fromEntries(
    service.methodsArray.map((method): [string, MethodDefinition<Message, Message>] => {
      method.resolve()
      const { resolvedRequestType: request, resolvedResponseType: response } = method
      if (!request || !response) throw new Error(`${name} has a method without types`)
      return [
        method.name,
        {
          path: `/${name}/${method.name}`,
          requestStream: method.requestStream === true,
          responseStream: method.responseStream === true,
          requestSerialize: writer(request),
          requestDeserialize: reader(request),
          responseSerialize: writer(response),
          responseDeserialize: reader(response),
        },
      ]
    }),
  )
}

function writer(type: protobuf.Type): (message: Message) => Buffer {
  return (message) => Buffer.from(type.encode(message).finish())
}

/** Fills absent fields with their empty values, like Go. */
function reader(type: protobuf.Type): (bytes: Buffer) => Message {
  return (bytes) => type.toObject(type.decode(bytes), { defaults: true, oneofs: true, bytes: Buffer })
}

/** Returns every file, dependencies first. */
export function describedFiles(): readonly DescribedFile[] {
  return protocols.map((protocol) => {
    const namespace = root.lookup(packageOf(protocol))
    if (!(namespace instanceof protobuf.Namespace)) throw new Error(`${protocol.file} has no package`)
    return {
      name: protocol.file,
      dependencies: protocol.dependencies,
      symbols: new Set(symbolsIn(namespace)),
      bytes: describe(protocol, namespace),
    }
  })
}

function packageOf({ text }: Protocol): string {
  return /^package (?<name>[\w.]+);/m.exec(text)?.groups?.['name'] ?? ''
}

function* symbolsIn(namespace: protobuf.NamespaceBase): Generator<string> {
  for (const nested of namespace.nestedArray) {
    if (
      nested instanceof protobuf.Type ||
      nested instanceof protobuf.Service ||
      nested instanceof protobuf.Enum
    )
      yield nested.fullName.slice(1)
    if (nested instanceof protobuf.Service)
      for (const method of nested.methodsArray) yield method.fullName.slice(1)
    if (nested instanceof protobuf.Type) yield* symbolsIn(nested)
  }
}

interface Descriptor {
  name: string
  typeName?: string
  readonly field?: readonly Descriptor[]
  readonly nestedType?: readonly Descriptor[]
}

function describe({ file, dependencies }: Protocol, namespace: protobuf.NamespaceBase): Uint8Array {
  const types: Descriptor[] = []
  const services: unknown[] = []
  for (const nested of namespace.nestedArray)
    if (nested instanceof protobuf.Type) types.push(describeType(nested))
    else if (nested instanceof protobuf.Service) services.push(describeService(nested))
  const enums = namespace.nestedArray.filter((nested) => nested instanceof protobuf.Enum)
  const whole = descriptor.FileDescriptorProto.create({
    name: file,
    package: namespace.fullName.slice(1),
    dependency: dependencies,
    messageType: types,
    enumType: enums.map((one) => one.toDescriptor('proto3')),
    service: services,
    syntax: 'proto3',
  })
  return descriptor.FileDescriptorProto.encode(whole).finish()
}

/** protobufjs uses names as written and names map entries by field; clients expect protoc's names. */
function describeType(type: protobuf.Type): Descriptor {
  const described = type.toDescriptor('proto3') as unknown as Descriptor
  for (const field of described.field ?? []) {
    const known = type.fields[field.name]
    if (known instanceof protobuf.MapField) {
      const entry = (described.nestedType ?? []).find(({ name }) => name === field.typeName)
      for (const part of entry?.field ?? [])
        if (part.name === 'value' && known.resolvedType) part.typeName = known.resolvedType.fullName
      const name = `${field.name.replace(/^./, (first) => first.toUpperCase())}Entry`
      if (entry) entry.name = name
      field.typeName = `${type.fullName}.${name}`
    } else if (known?.resolvedType) field.typeName = known.resolvedType.fullName
  }
  return described
}

function describeService(service: protobuf.Service): unknown {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => ({
      name: method.name,
      inputType: method.resolvedRequestType?.fullName,
      outputType: method.resolvedResponseType?.fullName,
      clientStreaming: method.requestStream === true,
      serverStreaming: method.responseStream === true,
    })),
  }
}
