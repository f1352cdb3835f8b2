"""Small talk that needs no tool, for the corpus; `questions.SMALL_TALK` holds none of it.

Standard library only. Where tools are offered, these teach that most messages need no call.
"""

from __future__ import annotations

import random

from train import pools

TALK: dict[str, tuple[str, ...]] = {
    "en": tuple(
        """How are you?|How is it going?|How do you feel?|What's up?|Hey!|Good evening!
Welcome back!|Good afternoon.|Sleep well.|See you tomorrow.|Have a good weekend!|Take care.
Thanks for your help.|Great, thanks!|Well done.|That is nice.|That is great.|That is wrong.
That is not true.|Not really.|Maybe.|Sure.|Of course.|No.|Yes, please.|Okay, thank you.|All right.
I agree.|I do not agree.|I see.|I understand.|I do not understand.|Never mind.|Sorry.|I am sorry.
Excuse me.|Please wait.|One moment, please.|Go on.|Stop.|Start again.|Try again.|Say it again.
I am happy.|I am sad.|I am hungry.|I am sick.|I am busy today.|I feel good.|I feel lonely.
I am at home.|I have a cold.|I need a break.|I need your help.|I am so excited!|I am very angry.
I am late for work.|I like dogs.|I like to read.|I love this song.|I love you.|I hate Mondays.
I want to sleep.|I want to learn.|I am a student.|I am a teacher.|I work in a bank.
I have two children.|I have a question.|My day was long.|My birthday is tomorrow.
Today is my birthday.|We are going on a trip.|It is late.|It was fun.|This is fun.|You are funny.
You are smart.|You are wrong.|You are very kind.|You did a good job.|You made a mistake.
Are you a robot?|Are you human?|Are you there?|Are you happy?|Are you sure?|Are you ready?
Are you busy?|Do you like me?|Do you sleep?|Do you dream?|Do you like football?
Do you have friends?|Do you speak French?|Do you love me?|Do you know me?|Do you have a family?
Can you sing?|Can you dance?|Can you cook?|Can you see me?|Can you hear me?|Can you read this?
Can we talk?|Could you explain it again?|Will you be my friend?|Where are you?
Where do you come from?|Where do you live?|Who is your boss?|Who is your best friend?
How old are you?|How do you work?|How can I learn faster?|How do I make tea?|How do I tie a tie?
How was your day?|What do you think?|What do you like?|What do you do all day?
What are your plans?|What is love?|What is new?|What is your favourite food?
What is your favourite film?|What is the meaning of life?|What should I eat today?
What should I read?|What makes you happy?|What did you say?|Why?|Why not?|Why are you here?
Why do cats purr?|Why is the sea salty?|When were you born?|When do you sleep?
Which book do you like?|Which game is the best?|Tell me something.|Tell me a secret.
Tell me a fairy tale.|Tell me about your life.|Talk to me.|Make me laugh.
Write a letter to my mother.|Write a short story.|Write a poem.|Write a song for me.|Sing for me.
Play a game with me.|Give me some advice.|Give me an idea for dinner.|Recommend a book.
Recommend a film.|Help!|Help me to relax.|Say hello to my friend.|Count to ten.
Spell the word house.|Translate hello into French.|Who wrote Faust?|Who was Newton?
Who invented the telephone?|What is the largest ocean?|What is the longest river?
What is the speed of light?|What is a prime number?|How many legs does a spider have?
How far is the moon?|Explain gravity.|Explain how a plane flies.|Is the earth round?|Is it far?
Does it hurt?|Really?|Wow!|Cool.|Ha ha!|Nice.|Hm.|What?|Who?|Good job!|Good luck!|Congratulations!
Cheers!|Happy new year!|Merry Christmas!|Bless you.|The food was good.|The book is on the table.
The dog is sleeping.|My sister plays the piano.|My phone is broken.|Our team won the game.
The film was boring.|Let's play.|Let's go.|Let us start.|Do not worry.|Be quiet.""".replace(
            "\n", "|"
        ).split("|")
    ),
    "zh": tuple(
        """最近好吗？|你怎么样？|你感觉如何？|在吗？|喂！|晚上好！|下午好。|欢迎回来！|好久不见。
睡个好觉。|明天见。|周末愉快！|保重。|谢谢你的帮助。|太好了，谢谢！|做得好。|真不错。|太棒了。
不对。|这不是真的。|不一定。|也许吧。|当然。|不。|不是。|对。|好。|行。|可以。|好吧，谢谢你。
没问题。|我同意。|我不同意。|我懂了。|我不明白。|算了。|对不起。|抱歉。|请等一下。|稍等。|继续。
停。|重新开始。|再试一次。|再说一遍。|我很高兴。|我很难过。|我饿了。|我生病了。|我今天很忙。
我感觉很好。|我很孤单。|我在家。|我感冒了。|我需要休息。|我需要你的帮助。|我太激动了！|我很生气。
我上班要迟到了。|我喜欢狗。|我喜欢读书。|我爱这首歌。|我爱你。|我讨厌星期一。|我想睡觉。
我想学习。|我是学生。|我是老师。|我在银行工作。|我有两个孩子。|我有一个问题。|今天过得好累。
明天是我的生日。|今天是我的生日。|我们要去旅行。|很晚了。|很好玩。|真有意思。|你真有趣。
你真聪明。|你错了。|你真好。|你做得很好。|你弄错了。|你是机器人吗？|你是人吗？|你还在吗？
你开心吗？|你确定吗？|你准备好了吗？|你忙吗？|你喜欢我吗？|你睡觉吗？|你会做梦吗？|你喜欢足球吗？
你有朋友吗？|你会说法语吗？|你爱我吗？|你认识我吗？|你有家人吗？|你会唱歌吗？|你会跳舞吗？
你会做饭吗？|你看得见我吗？|你听得到吗？|你能读这个吗？|我们聊聊吧。|你能再解释一遍吗？
你愿意做我的朋友吗？|你在哪里？|你从哪里来？|你住在哪？|你的老板是谁？|你最好的朋友是谁？
你几岁了？|你是怎么工作的？|怎么学得更快？|怎么泡茶？|怎么打领带？|你今天过得好吗？|你怎么想？
你喜欢什么？|你整天做什么？|你有什么打算？|爱是什么？|有什么新鲜事？|你最喜欢吃什么？
你最喜欢哪部电影？|人生的意义是什么？|今天吃什么好？|我该读什么书？|什么让你开心？|你说什么？
为什么？|为什么不？|你为什么在这里？|猫为什么会叫？|海水为什么是咸的？|你什么时候出生的？
你喜欢哪本书？|哪个游戏最好玩？|说点什么。|告诉我一个秘密。|讲个童话。|说说你的生活。|陪我说说话。
逗我笑一下。|给我妈妈写封信。|写个小故事。|写一首诗。|给我写首歌。|给我唱支歌。|陪我玩个游戏。
给我一点建议。|晚饭吃什么好？|推荐一本书。|推荐一部电影。|救命！|帮我放松一下。|向我的朋友问好。
从一数到十。|用“花”组一个词。|把你好翻译成法语。|《西游记》是谁写的？|牛顿是谁？|电话是谁发明的？
最大的海洋是哪个？|最长的河是哪条？|光速是多少？|什么是质数？|蜘蛛有几条腿？|月亮有多远？
解释一下重力。|飞机为什么会飞？|地球是圆的吗？|远吗？|疼吗？|真的吗？|哇！|酷。|哈哈！|嗯。|什么？
谁？|加油！|祝你好运！|恭喜！|干杯！|新年快乐！|圣诞快乐！|饭很好吃。|书在桌子上。|小狗在睡觉。
我妹妹会弹钢琴。|我的手机坏了。|我们队赢了。|这部电影很无聊。|一起玩吧。|走吧。|开始吧。|别担心。
安静。|你吃饭了吗？|李白是谁？|黄河有多长？|什么是光年？|太阳有多大？""".replace("\n", "|").split(
            "|"
        )
    ),
}
_ABOUT = {
    "en": (
        "I like {t}.",
        "Do you like {t}?",
        "I have a {t}.",
        "My {t} is {u}.",
        "The {t} is {u}.",
        "I think {t} is {u}.",
        "Have you seen {t}?",
        "What do you think about {t}?",
        "Who is {t}?",
        "Who made {t}?",
        "I am {t}.",
        "You are {t}.",
        "Are you {t}?",
        "Can you {t}?",
        "Let's {t}!",
        "Why is {t} {u}?",
        "Tell me a {t}.",
        "{t}!",
        "{t}, {u}.",
        "That was {t}.",
        "Have a {t} {u}!",
        "What is your {t} {u}?",
        "How is {t}?",
    ),
    "zh": (
        "我喜欢{t}。",
        "你喜欢{t}吗？",
        "我有一个{t}。",
        "我的{t}很{u}。",
        "{t}是{u}。",
        "我觉得{t}很{u}。",
        "你见过{t}吗？",
        "你觉得{t}怎么样？",
        "谁是{t}？",
        "{t}是谁做的？",
        "我{t}了。",
        "你真{t}。",
        "你是{t}吗？",
        "你能{t}吗？",
        "{t}吧！",
        "为什么{t}{u}？",
        "讲个{t}。",
        "{t}！",
        "{t}，{u}。",
        "很{t}。",
        "祝你{t}！",
        "你最喜欢的{t}是什么？",
        "{t}好吗？",
        "{t}有多{u}？",
    ),
}
_GAP = {"en": " ", "zh": ""}


def _words(text: str, lang: str) -> list[str]:
    return text.split(" ") if lang == "en" else list(text)


def _mixed(rng: random.Random, lang: str) -> str:
    """Return words of several messages without sense: any message but a tool's needs no call."""
    bag = [word for text in rng.sample(TALK[lang], 4) for word in _words(text, lang)]
    bag.append(pools.word(rng, lang))
    return _GAP[lang].join(rng.sample(bag, min(len(bag), rng.randint(2, 7))))


def _changed(text: str, rng: random.Random, lang: str) -> str:
    """Return the message with one word of it replaced."""
    words = _words(text, lang)
    words[rng.randrange(len(words))] = pools.word(rng, lang)
    return _GAP[lang].join(words)


def say(rng: random.Random, lang: str) -> str:
    """Return a message that needs no tool."""
    text = rng.choice(TALK[lang])
    pick = rng.random()
    if pick < 0.45:
        return text
    if pick < 0.55:
        return text + _GAP[lang] + rng.choice(TALK[lang])
    if pick < 0.67:
        return _changed(text, rng, lang)
    if pick < 0.77:
        return _mixed(rng, lang)
    topic, other = pools.word(rng, lang), pools.word(rng, lang)
    return rng.choice(_ABOUT[lang]).format(t=topic, u=other)


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    about = [text.format(t="", u="") for texts in _ABOUT.values() for text in texts]
    return [*TALK["en"], *TALK["zh"], *about]
