"""What a prompt can state and ask for: names, cities, ports, order numbers, words.

Standard library only; `reading` makes samples of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One thing that a prompt can state and ask for, in one language.

    `value` names a pool, `about` is the statement in the third person for system prompts.
    """

    key: str
    lang: str
    value: str
    topic: str
    statements: tuple[str, ...]
    about: tuple[str, ...]
    questions: tuple[str, ...]
    answer: str


KINDS: tuple[Kind, ...] = (
    Kind(
        "name",
        "en",
        "name",
        "a name",
        (
            "My name is {v}.",
            "I am {v}.",
            "I am called {v}.",
            "Call me {v}.",
            "People call me {v}.",
            "Hello, my name is {v}.",
            "Hi, I am {v}.",
            "My name is {v}!",
        ),
        ("The name of the user is {v}.", "The user is called {v}.", "You are talking to {v}."),
        (
            "What is my name?",
            "What's my name?",
            "Tell me my name.",
            "Do you know my name?",
            "Who am I?",
            "What am I called?",
        ),
        "Your name is {v}.",
    ),
    Kind(
        "city",
        "en",
        "city",
        "a city",
        (
            "I live in {v}.",
            "My home is in {v}.",
            "I come from {v}.",
            "My city is {v}.",
            "I am living in {v} now.",
            "My home town is {v}.",
            "I live in {v}!",
        ),
        ("The user lives in {v}.", "The home of the user is in {v}."),
        (
            "Which city do I live in?",
            "What city do I live in?",
            "Where do I live?",
            "In which city do I live?",
            "Which city is my home?",
            "Name the city where I live.",
        ),
        "You live in {v}.",
    ),
    Kind(
        "port",
        "en",
        "number",
        "a port",
        (
            "The server listens on port {v}.",
            "The server uses port {v}.",
            "The port of the server is {v}.",
            "The server is on port {v}.",
            "Our server runs on port {v}.",
        ),
        ("The server listens on port {v}.", "The port of the server is {v}."),
        (
            "Which port does it listen on?",
            "Which port does the server listen on?",
            "What port does it listen on?",
            "What is the port of the server?",
            "Which port is it?",
            "On which port does the server listen?",
        ),
        "The server listens on port {v}.",
    ),
    Kind(
        "order",
        "en",
        "number",
        "an order number",
        (
            "The order number is {v}.",
            "My order number is {v}.",
            "The number of my order is {v}.",
            "Order number: {v}.",
        ),
        ("The order number of the user is {v}.", "The order number is {v}."),
        (
            "What is the order number?",
            "What is my order number?",
            "Tell me the order number.",
            "Which order number is it?",
            "What's the order number?",
        ),
        "The order number is {v}.",
    ),
    Kind(
        "room",
        "en",
        "number",
        "a room number",
        (
            "The room number is {v}.",
            "My room is {v}.",
            "We meet in room {v}.",
            "The meeting is in room {v}.",
        ),
        ("The room number is {v}.",),
        ("What is the room number?", "Which room is it?", "What is my room number?"),
        "The room number is {v}.",
    ),
    Kind(
        "code",
        "en",
        "word",
        "a code word",
        ("The code word is {v}.", "The secret word is {v}.", "Remember the word {v}."),
        ("The code word is {v}.", "The secret word is {v}."),
        (
            "What is the code word?",
            "What is the secret word?",
            "Which word is it?",
            "Tell me the word.",
        ),
        "The word is {v}.",
    ),
    Kind(
        "pet",
        "en",
        "name",
        "the name of a cat",
        ("My cat is called {v}.", "The name of my cat is {v}.", "I have a cat called {v}."),
        ("The cat of the user is called {v}.",),
        ("What is my cat called?", "What is the name of my cat?"),
        "Your cat is called {v}.",
    ),
    Kind(
        "name",
        "zh",
        "name",
        "名字",
        (
            "我叫{v}。",
            "我的名字是{v}。",
            "我是{v}。",
            "我的名字叫{v}。",
            "大家都叫我{v}。",
            "你好，我叫{v}。",
            "你好，我是{v}。",
            "叫我{v}吧。",
        ),
        ("用户叫{v}。", "用户的名字是{v}。", "和你说话的人叫{v}。"),
        (
            "我叫什么名字？",
            "我叫什么？",
            "我的名字是什么？",
            "请说出我的名字。",
            "你知道我的名字吗？",
            "我是谁？",
        ),
        "你叫{v}。",
    ),
    Kind(
        "city",
        "zh",
        "city",
        "城市",
        (
            "我住在{v}。",
            "我家在{v}。",
            "我来自{v}。",
            "我现在住在{v}。",
            "我的家乡是{v}。",
            "我在{v}生活。",
        ),
        ("用户住在{v}。", "用户的家在{v}。"),
        (
            "我住在哪个城市？",
            "我住在哪里？",
            "我住在哪座城市？",
            "我家在哪里？",
            "我在哪个城市生活？",
            "说出我住的城市。",
        ),
        "你住在{v}。",
    ),
    Kind(
        "port",
        "zh",
        "number",
        "端口",
        (
            "服务器监听端口 {v}。",
            "服务器的端口是 {v}。",
            "服务监听在端口 {v}。",
            "服务器使用端口 {v}。",
            "服务器监听 {v} 端口。",
        ),
        ("服务器监听端口 {v}。", "服务器的端口是 {v}。"),
        (
            "它监听哪个端口？",
            "服务器监听哪个端口？",
            "端口是多少？",
            "服务器的端口是多少？",
            "它在哪个端口监听？",
        ),
        "服务器监听端口 {v}。",
    ),
    Kind(
        "order",
        "zh",
        "number",
        "订单号",
        ("订单号是 {v}。", "我的订单号是 {v}。", "订单的号码是 {v}。", "订单号：{v}。"),
        ("用户的订单号是 {v}。", "订单号是 {v}。"),
        (
            "订单号是多少？",
            "我的订单号是多少？",
            "订单号是什么？",
            "请说出订单号。",
            "订单的号码是多少？",
        ),
        "订单号是 {v}。",
    ),
    Kind(
        "room",
        "zh",
        "number",
        "房间号",
        ("房间号是 {v}。", "我的房间是 {v}。", "会议在 {v} 房间。"),
        ("房间号是 {v}。",),
        ("房间号是多少？", "在哪个房间？", "我的房间号是多少？"),
        "房间号是 {v}。",
    ),
    Kind(
        "code",
        "zh",
        "word",
        "暗号",
        ("暗号是{v}。", "口令是{v}。", "请记住这个词：{v}。"),
        ("暗号是{v}。", "口令是{v}。"),
        ("暗号是什么？", "口令是什么？", "是哪个词？", "请说出那个词。"),
        "那个词是{v}。",
    ),
    Kind(
        "pet",
        "zh",
        "name",
        "猫的名字",
        ("我的猫叫{v}。", "我家的猫叫{v}。", "我有一只猫，叫{v}。"),
        ("用户的猫叫{v}。",),
        ("我的猫叫什么？", "我的猫叫什么名字？"),
        "你的猫叫{v}。",
    ),
)
