/*
 * A program for tests that passes on whatever it is asked: it calls its first account with the accounts after it and
 * with its own instruction data. So any instruction can be made to happen inside another one.
 *
 * relayProgram.ts holds what this compiles to, which is only the code, without an ELF around it:
 *
 *   clang -target bpf -mcpu=v2 -O2 -fno-builtin -c relay.c -o relay.o
 *   llvm-objcopy -O binary --only-section=.text relay.o relay.text && base64 -w 110 relay.text
 */
typedef unsigned char u8;
typedef unsigned long long u64;

struct account_meta {
    const u8 *key;
    u8 is_writable;
    u8 is_signer;
};

struct account_info {
    const u8 *key;
    u64 *lamports;
    u64 data_length;
    u8 *data;
    const u8 *owner;
    u64 rent_epoch;
    u8 is_signer;
    u8 is_writable;
    u8 is_executable;
    u8 padding[5];
};

struct instruction {
    const u8 *program;
    struct account_meta *accounts;
    u64 account_count;
    const u8 *data;
    u64 data_length;
};

/* How the runtime lays out one account of the input, up to its data. */
struct account_head {
    u8 duplicate_of;
    u8 is_signer;
    u8 is_writable;
    u8 is_executable;
    u8 padding[4];
    u8 key[32];
    u8 owner[32];
    u64 lamports;
    u64 data_length;
};

enum { NOT_A_DUPLICATE = 0xff, GROWTH_ROOM = 10240, ACCOUNTS_MAX = 64 };

/* The number is the murmur3 hash of "sol_invoke_signed_c", which is how a program of SBPF version 3 calls the runtime. */
static u64 (*const invoke)(const struct instruction *, const struct account_info *, u64, const void *, u64) =
    (void *)0xa22b9c85;

struct scratch {
    struct instruction call;
    struct account_meta metas[ACCOUNTS_MAX];
    struct account_info infos[ACCOUNTS_MAX];
};

u64 entrypoint(u8 *input) {
    /* The heap begins at 3 << 32. The empty assembly hides that from the compiler, which would make a constant of it
       that takes two instruction slots; version 3 does not know such instructions. */
    u64 heap = 3;
    __asm__ volatile("" : "+r"(heap));
    struct scratch *scratch = (struct scratch *)(heap << 32);

    u64 count = *(u64 *)input;
    u8 *at = input + 8;
    if (count == 0 || count > ACCOUNTS_MAX) return 1;
    for (u64 index = 0; index < count; index++) {
        struct account_info *info = &scratch->infos[index];
        if (*at == NOT_A_DUPLICATE) {
            struct account_head *head = (struct account_head *)at;
            info->key = head->key;
            info->lamports = &head->lamports;
            info->data_length = head->data_length;
            info->data = at + sizeof(struct account_head);
            info->owner = head->owner;
            info->is_signer = head->is_signer;
            info->is_writable = head->is_writable;
            info->is_executable = head->is_executable;
            at = (u8 *)(((u64)info->data + head->data_length + GROWTH_ROOM + 7) & ~7ULL);
            info->rent_epoch = *(u64 *)at;
        } else {
            *info = scratch->infos[*at];
        }
        at += 8;
        scratch->metas[index].key = info->key;
        scratch->metas[index].is_writable = info->is_writable;
        scratch->metas[index].is_signer = info->is_signer;
    }
    scratch->call.program = scratch->infos[0].key;
    scratch->call.accounts = &scratch->metas[1];
    scratch->call.account_count = count - 1;
    scratch->call.data_length = *(u64 *)at;
    scratch->call.data = at + 8;
    return invoke(&scratch->call, scratch->infos, count, 0, 0);
}
