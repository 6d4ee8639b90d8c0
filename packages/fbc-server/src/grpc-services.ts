// Service definitions for gRPC and descriptors for reflection.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor/index.js'
import { protoFiles, type ProtoFile } from './proto-files.ts'

export type ProtoMessage = Readonly<Record<string, unknown>>

export type GrpcService = ServiceDefinition &
  Readonly<Record<string, MethodDefinition<ProtoMessage, ProtoMessage>>>

export interface DescribedProtoFile {
  readonly name: string
  readonly dependencies: readonly string[]
  readonly symbols: ReadonlySet<string>
  readonly bytes: Uint8Array
}

const protobufRoot = new protobuf.Root()
for (const { text } of protoFiles) protobuf.parse(text, protobufRoot, { keepCase: true })
protobufRoot.resolveAll()

export function getGrpcService(name: string): GrpcService {
  const service = protobufRoot.lookupService(name)
  return Object.fromEntries(
    service.methodsArray.map((method): [string, MethodDefinition<ProtoMessage, ProtoMessage>] => {
      method.resolve()
      const { resolvedRequestType: request, resolvedResponseType: response } = method
      if (!request || !response) throw new Error(`a method of ${name} has no types`)
      return [
        method.name,
        {
          path: `/${name}/${method.name}`,
          requestStream: method.requestStream === true,
          responseStream: method.responseStream === true,
          requestSerialize: createSerializer(request),
          requestDeserialize: createDeserializer(request),
          responseSerialize: createSerializer(response),
          responseDeserialize: createDeserializer(response),
        },
      ]
    }),
  )
}

function createSerializer(type: protobuf.Type): (message: ProtoMessage) => Buffer {
  return (message) => Buffer.from(type.encode(message).finish())
}

/** Sets absent fields to their empty values, like Go. */
function createDeserializer(type: protobuf.Type): (bytes: Buffer) => ProtoMessage {
  return (bytes) => type.toObject(type.decode(bytes), { defaults: true, oneofs: true, bytes: Buffer })
}

/** Returns every file, dependencies first. */
export function describeProtoFiles(): readonly DescribedProtoFile[] {
  return protoFiles.map((protocol) => {
    const namespace = protobufRoot.lookup(parseProtoPackage(protocol))
    if (!(namespace instanceof protobuf.Namespace)) throw new Error(`${protocol.file} has no package`)
    return {
      name: protocol.file,
      dependencies: protocol.dependencies,
      symbols: new Set(listProtoSymbols(namespace)),
      bytes: encodeFileDescriptor(protocol, namespace),
    }
  })
}

function parseProtoPackage({ text }: ProtoFile): string {
  return /^package (?<name>[\w.]+);/m.exec(text)?.groups?.['name'] ?? ''
}

function* listProtoSymbols(namespace: protobuf.NamespaceBase): Generator<string> {
  for (const nested of namespace.nestedArray) {
    if (
      nested instanceof protobuf.Type ||
      nested instanceof protobuf.Service ||
      nested instanceof protobuf.Enum
    )
      yield nested.fullName.slice(1)
    if (nested instanceof protobuf.Service)
      for (const method of nested.methodsArray) yield method.fullName.slice(1)
    if (nested instanceof protobuf.Type) yield* listProtoSymbols(nested)
  }
}

interface MessageDescriptor {
  name: string
  typeName?: string
  readonly field?: readonly MessageDescriptor[]
  readonly nestedType?: readonly MessageDescriptor[]
}

function encodeFileDescriptor(
  { file, dependencies }: ProtoFile,
  namespace: protobuf.NamespaceBase,
): Uint8Array {
  const types: MessageDescriptor[] = []
  const services: unknown[] = []
  for (const nested of namespace.nestedArray)
    if (nested instanceof protobuf.Type) types.push(toMessageDescriptor(nested))
    else if (nested instanceof protobuf.Service) services.push(toServiceDescriptor(nested))
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

/** protobufjs uses names as written and names map entries by field. Clients expect protoc's names. */
function toMessageDescriptor(type: protobuf.Type): MessageDescriptor {
  const described = type.toDescriptor('proto3') as unknown as MessageDescriptor
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

function toServiceDescriptor(service: protobuf.Service): unknown {
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
